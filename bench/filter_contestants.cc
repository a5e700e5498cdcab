#include "filter_contestants.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "base/aligned_bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "tamis/filter.h"

namespace tamis::bench {

std::uint64_t member_hash(std::uint64_t i) { return remix(i); }
std::uint64_t stranger_hash(std::uint64_t i) { return remix(i | (std::uint64_t{1} << 63)); }

void write_key(std::uint64_t hash, char* out) {
  for (std::size_t i = 0; i < kKeyBytes; ++i) out[i] = "0123456789abcdef"[(hash >> (4 * i)) & 15];
}

namespace {

class TamisContestant final : public Contestant {
 public:
  TamisContestant(const std::string& kind, const std::string& measure, double value)
      : Contestant(measure == "rate" ? fmt::format("{} {:g} %", kind, 100 * value)
                                     : fmt::format("{} {:g} bits", kind, value)) {
    options_.kind = kind;
    (measure == "rate" ? options_.target_rate : options_.bits_per_key) = value;
  }

  void build(const Keys& keys) override {
    FilterBuilder builder(options_);
    std::visit([&](auto some) { add_all(builder, some); }, keys);
    filter_ = builder.finish().value();
  }
  [[nodiscard]] std::uint64_t bytes() const override { return filter_->info().bits / 8; }

  [[nodiscard]] std::uint64_t count_single(const Keys& keys) const override {
    std::uint64_t count = 0;
    const auto count_all = [&](auto some) {
      for (const auto& key : some) count += static_cast<std::uint64_t>(may_contain(key));
    };
    std::visit(count_all, keys);
    return count;
  }
  [[nodiscard]] std::uint64_t count_many(const Keys& keys) const override {
    constexpr std::size_t kBatch = 1024;
    std::array<std::uint64_t, kBatch / 64> answers;
    std::uint64_t count = 0;
    const auto count_all = [&](auto some) {
      for (std::size_t begin = 0; begin < some.size(); begin += kBatch) {
        const std::size_t batch = std::min(kBatch, some.size() - begin);
        filter_->may_contain_many(some.subspan(begin, batch), answers.data());
        for (std::size_t i = 0; i < (batch + 63) / 64; ++i) count += std::popcount(answers[i]);
      }
    };
    std::visit(count_all, keys);
    return count;
  }

 private:
  static void add_all(FilterBuilder& builder, std::span<const std::uint64_t> hashes) {
    for (const std::uint64_t hash : hashes) builder.add_hash(hash);
  }
  static void add_all(FilterBuilder& builder, std::span<const std::string_view> texts) {
    for (const std::string_view text : texts) builder.add(text);
  }
  [[nodiscard]] bool may_contain(std::uint64_t hash) const { return filter_->may_contain_hash(hash); }
  [[nodiscard]] bool may_contain(std::string_view text) const { return filter_->may_contain(text); }

  FilterOptions options_;
  std::optional<Filter> filter_;
};

/// Hashes only: texts would add the cost of hashing.
class FloorContestant final : public Contestant {
 public:
  explicit FloorContestant(double bits_per_key)
      : Contestant(fmt::format("floor ({:g} bits)", bits_per_key)), bits_per_key_(bits_per_key) {}

  [[nodiscard]] bool takes(bool texts) const override { return !texts; }
  void build(const Keys& keys) override {
    const auto bits = static_cast<double>(std::get<0>(keys).size()) * bits_per_key_;
    lines_ = static_cast<std::uint32_t>(std::max(1.0, bits / 512));
    memory_ = AlignedBytes::zeroed(std::size_t{lines_} * kCacheLineBytes);
    TAMIS_CHECK(memory_.size() > 0);
  }
  [[nodiscard]] std::uint64_t bytes() const override { return memory_.size(); }

  [[nodiscard]] std::uint64_t count_single(const Keys& keys) const override {
    std::uint64_t sum = 0;
    for (const std::uint64_t hash : std::get<0>(keys)) sum += word(hash);
    return sum;
  }
  /// The floor of batches: the line was prefetched 32 keys earlier.
  [[nodiscard]] std::uint64_t count_many(const Keys& keys) const override {
    const std::span<const std::uint64_t> hashes = std::get<0>(keys);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      __builtin_prefetch(line(hashes[std::min(i + 32, hashes.size() - 1)]));
      sum += word(hashes[i]);
    }
    return sum;
  }

 private:
  [[nodiscard]] const std::byte* line(std::uint64_t hash) const {
    return memory_.data() + kCacheLineBytes * fast_range32(static_cast<std::uint32_t>(hash >> 32), lines_);
  }
  [[nodiscard]] std::uint64_t word(std::uint64_t hash) const { return load_le<std::uint64_t>(line(hash)); }

  double bits_per_key_;
  std::uint32_t lines_ = 1;
  AlignedBytes memory_;
};

}  // namespace

std::unique_ptr<Contestant> make_floor(double bits_per_key) { return std::make_unique<FloorContestant>(bits_per_key); }

std::unique_ptr<Contestant> make_tamis(const std::string& kind, const std::string& measure, double value) {
  return std::make_unique<TamisContestant>(kind, measure, value);
}

}  // namespace tamis::bench
