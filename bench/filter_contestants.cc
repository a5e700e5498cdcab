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

constexpr std::size_t kBatch = 1024;

template <typename Key, typename Answer>
std::uint64_t count_in_batches(std::span<const Key> keys, Answer answer) {
  std::array<std::uint64_t, kBatch / 64> answers;
  std::uint64_t count = 0;
  for (std::size_t begin = 0; begin < keys.size(); begin += kBatch) {
    const std::size_t batch = std::min(kBatch, keys.size() - begin);
    answer(keys.subspan(begin, batch), answers.data());
    for (std::size_t i = 0; i < (batch + 63) / 64; ++i) count += std::popcount(answers[i]);
  }
  return count;
}

class TamisContestant final : public Contestant {
 public:
  TamisContestant(const std::string& kind, const std::string& measure, double value)
      : Contestant(measure == "rate" ? fmt::format("{} {:g} %", kind, 100 * value)
                                     : fmt::format("{} {:g} bits", kind, value)) {
    options_.kind = kind;
    (measure == "rate" ? options_.target_rate : options_.bits_per_key) = value;
  }

  void build_from_hashes(std::span<const std::uint64_t> hashes) override {
    FilterBuilder builder(options_);
    for (const std::uint64_t hash : hashes) builder.add_hash(hash);
    filter_ = builder.finish().value();
  }
  void build_from_keys(std::span<const std::string_view> keys) override {
    FilterBuilder builder(options_);
    for (const std::string_view key : keys) builder.add(key);
    filter_ = builder.finish().value();
  }
  [[nodiscard]] std::uint64_t bytes() const override { return filter_->info().bits / 8; }

  [[nodiscard]] std::uint64_t count_single(std::span<const std::uint64_t> hashes) const override {
    std::uint64_t count = 0;
    for (const std::uint64_t hash : hashes) count += static_cast<std::uint64_t>(filter_->may_contain_hash(hash));
    return count;
  }
  [[nodiscard]] std::uint64_t count_many(std::span<const std::uint64_t> hashes) const override {
    return count_in_batches(hashes,
                            [&](auto some, std::uint64_t* answers) { filter_->may_contain_many(some, answers); });
  }
  [[nodiscard]] std::uint64_t count_single_keys(std::span<const std::string_view> keys) const override {
    std::uint64_t count = 0;
    for (const std::string_view key : keys) count += static_cast<std::uint64_t>(filter_->may_contain(key));
    return count;
  }
  [[nodiscard]] std::uint64_t count_many_keys(std::span<const std::string_view> keys) const override {
    return count_in_batches(keys, [&](auto some, std::uint64_t* answers) { filter_->may_contain_many(some, answers); });
  }

 private:
  FilterOptions options_;
  std::optional<Filter> filter_;
};

class FloorContestant final : public Contestant {
 public:
  explicit FloorContestant(double bits_per_key)
      : Contestant(fmt::format("floor ({:g} bits)", bits_per_key)), bits_per_key_(bits_per_key) {}

  void build_from_hashes(std::span<const std::uint64_t> hashes) override { allocate(hashes.size()); }
  void build_from_keys(std::span<const std::string_view> keys) override { allocate(keys.size()); }
  [[nodiscard]] bool takes_keys() const override { return false; }
  [[nodiscard]] std::uint64_t bytes() const override { return memory_.size(); }

  [[nodiscard]] std::uint64_t count_single(std::span<const std::uint64_t> hashes) const override {
    std::uint64_t sum = 0;
    for (const std::uint64_t hash : hashes) sum += word(hash);
    return sum;
  }
  /// The floor of batches: the line was prefetched 32 keys earlier.
  [[nodiscard]] std::uint64_t count_many(std::span<const std::uint64_t> hashes) const override {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      __builtin_prefetch(line(hashes[std::min(i + 32, hashes.size() - 1)]));
      sum += word(hashes[i]);
    }
    return sum;
  }
  [[nodiscard]] std::uint64_t count_single_keys(std::span<const std::string_view>) const override { return 0; }
  [[nodiscard]] std::uint64_t count_many_keys(std::span<const std::string_view>) const override { return 0; }

 private:
  void allocate(std::size_t keys) {
    lines_ = static_cast<std::uint32_t>(std::max(1.0, static_cast<double>(keys) * bits_per_key_ / 512));
    memory_ = AlignedBytes::zeroed(std::size_t{lines_} * kCacheLineBytes);
    TAMIS_CHECK(memory_.size() > 0);
  }
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
