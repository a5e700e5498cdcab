// An opened foreign filter: it answers for keys and describes itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "filter/formats/bloom_scheme.h"
#include "tamis/foreign.h"

namespace tamis::foreign {

/// A Bloom filter's bits, independent of any file: bit i in byte i / 8, ⌈shape.bits / 8⌉ bytes.
struct PlainBits {
  BloomShape shape;
  std::string bits;
};

/// An opened filter. It refers to the bytes it was opened from, which must outlive it.
///
/// Threads: immutable after construction.
class Probe {
 public:
  Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  virtual ~Probe() = default;

  [[nodiscard]] virtual bool may_contain(std::string_view key) const = 0;
  /// Fills in everything except `format` and `bytes`.
  virtual void describe(ForeignInfo& info) const = 0;
  /// Nothing unless this is a single Bloom filter.
  [[nodiscard]] virtual std::optional<PlainBits> plain_bits() const { return std::nullopt; }
};
using ProbePtr = std::unique_ptr<const Probe>;

/// The same answer for every key, as several systems define it for files without a usable filter.
class ConstantProbe final : public Probe {
 public:
  explicit ConstantProbe(bool answer) : answer_(answer) {}
  [[nodiscard]] bool may_contain(std::string_view) const override { return answer_; }
  void describe(ForeignInfo& info) const override;

 private:
  bool answer_;
};

/// A Bloom filter of any scheme.
class BloomProbe final : public Probe {
 public:
  /// `bits` must hold shape.bits, in whole words if the scheme's order uses words.
  BloomProbe(const BloomScheme& scheme, const BloomShape& shape, Bytes bits, std::string detail = {});
  /// Same with its own bits, for files that had to be decoded first.
  BloomProbe(const BloomScheme& scheme, const BloomShape& shape, std::string&& bits);

  [[nodiscard]] bool may_contain(std::string_view key) const override {
    return scheme_.may_contain(bits_, shape_, key);
  }
  void describe(ForeignInfo& info) const override;
  [[nodiscard]] std::optional<PlainBits> plain_bits() const override;

 private:
  const BloomScheme& scheme_;
  BloomShape shape_;
  std::string owned_;
  Bytes bits_;
  std::string detail_;
};

/// Estimates fill, keys and rate from counts of set bits, summed over the filters of a file.
class FillEstimate {
 public:
  /// A filter, or one of its blocks, with `set` of its `bits` bits at 1 and k hashes.
  void add(std::uint64_t bits, std::uint64_t set, std::uint32_t hashes);
  void write_to(ForeignInfo& info) const;

 private:
  std::uint64_t bits_ = 0;
  std::uint64_t set_ = 0;
  double keys_ = 0;
  double weighted_rate_ = 0;  // Sum of bits · rate.
};

/// The first `count` bits of plain bytes or big-endian words, as plain bytes; missing bits are 0.
std::string plain_bytes(Bytes bytes, std::uint64_t count, BitOrder order);

/// The number of set bits among the first `count` of plain bytes or big-endian words.
std::uint64_t count_bits(Bytes bytes, std::uint64_t count, BitOrder order);

}  // namespace tamis::foreign
