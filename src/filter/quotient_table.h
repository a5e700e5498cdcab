// A table of short fingerprints that are found by a quotient, the hash's first bits, and stay in its order.
//
// A fingerprint is a number of 1 to `entry_bits` bits that is not 0. Those of one quotient are a run of neighbouring
// slots, at the quotient's own slot or behind it if earlier runs reach that far. Two bits per slot tell the runs apart:
// `occupied` of slot i says that quotient i has a run; `ends` that a run ends in slot i. Runs are in the order of
// quotients, so the n-th run belongs to the n-th occupied quotient.
//
// Slots are in blocks of 64. A block is
//     8 bytes  occupied     8 bytes  ends
//     2 bytes  the number of its slots, and of those behind it, that runs of earlier blocks take
//     64 entries of entry_bits bits; 0 in a slot that is not used
// One or two blocks behind the last quotient take runs that reach beyond it. Then 8 bytes, zero, so that any entry can
// be read as 8 bytes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/bytes.h"

namespace tamis {

/// The size of a table.
struct QuotientShape {
  static constexpr std::uint64_t kBlockSlots = 64;
  static constexpr std::size_t kBlockHeadBytes = 18;
  static constexpr std::size_t kTailBytes = 8;
  static constexpr std::uint32_t kMinQuotientBits = 6;
  static constexpr std::uint32_t kMaxQuotientBits = 40;
  static constexpr std::uint32_t kMaxEntryBits = 48;

  std::uint32_t quotient_bits = kMinQuotientBits;
  std::uint32_t entry_bits = 2;

  [[nodiscard]] std::uint64_t quotients() const { return std::uint64_t{1} << quotient_bits; }
  /// The most entries: 15 of 16 slots. Beyond it, runs are pushed further and further away.
  [[nodiscard]] std::uint64_t most_entries() const { return quotients() - quotients() / 16; }
  /// Runs reach beyond the last quotient by more than 64 slots in about 1 of 3,000 full tables, by more than 128 never.
  [[nodiscard]] std::uint64_t blocks() const { return quotients() / kBlockSlots + (quotients() > 512 ? 2 : 1); }
  [[nodiscard]] std::uint64_t slots() const { return blocks() * kBlockSlots; }
  [[nodiscard]] std::size_t block_bytes() const { return kBlockHeadBytes + kBlockSlots / 8 * entry_bits; }
  [[nodiscard]] std::uint64_t bytes() const { return blocks() * block_bytes() + kTailBytes; }
};

/// Reads a table.
///
/// Threads: any number, while nobody changes the bytes.
class QuotientTable {
 public:
  /// The slots of a run: [begin, end).
  struct Run {
    std::uint64_t begin;
    std::uint64_t end;
  };

  QuotientTable() = default;
  QuotientTable(QuotientShape shape, const std::byte* bytes) : shape_(shape), bytes_(bytes) {}

  [[nodiscard]] const QuotientShape& shape() const { return shape_; }
  [[nodiscard]] bool is_occupied(std::uint64_t quotient) const {
    return ((occupied_of(quotient / 64) >> (quotient % 64)) & 1) != 0;
  }
  [[nodiscard]] std::uint64_t entry(std::uint64_t slot) const {
    const std::uint64_t bit = slot % 64 * shape_.entry_bits;
    const std::byte* from = block(slot / 64) + QuotientShape::kBlockHeadBytes + bit / 8;
    return (load_le<std::uint64_t>(from) >> (bit % 8)) & mask();
  }
  /// The run of an occupied quotient.
  [[nodiscard]] Run run_of(std::uint64_t quotient) const {
    const std::uint64_t at = quotient / 64;
    const std::uint64_t before = occupied_of(at) & ((std::uint64_t{1} << (quotient % 64)) - 1);
    const std::uint64_t begin = end_of(at, std::popcount(before));
    return {std::max(quotient, begin), end_of(at, std::popcount(before) + 1)};
  }
  void prefetch(std::uint64_t quotient) const {
    const std::byte* at = block(quotient / 64);
    __builtin_prefetch(at);
    __builtin_prefetch(at + QuotientShape::kBlockHeadBytes + quotient % 64 * shape_.entry_bits / 8);
  }

  /// Calls f(quotient, run) in ascending order until it returns false; returns whether none did.
  template <typename Function>
  bool each_run(Function f) const {
    for (std::uint64_t at = 0; at < shape_.blocks(); ++at) {
      for (std::uint64_t left = occupied_of(at); left != 0; left &= left - 1) {
        const std::uint64_t quotient = at * 64 + static_cast<std::uint64_t>(std::countr_zero(left));
        if (!f(quotient, run_of(quotient))) return false;
      }
    }
    return true;
  }

  /// Whether any bytes are a table with this number of entries, in which every call here stays inside the bytes. They
  /// must be shape.bytes().
  [[nodiscard]] bool is_whole(std::uint64_t entries) const;

 protected:
  [[nodiscard]] std::uint64_t mask() const { return (std::uint64_t{1} << shape_.entry_bits) - 1; }
  [[nodiscard]] const std::byte* block(std::uint64_t i) const { return bytes_ + i * shape_.block_bytes(); }
  [[nodiscard]] std::uint64_t occupied_of(std::uint64_t i) const { return load_le<std::uint64_t>(block(i)); }
  [[nodiscard]] std::uint64_t ends_of(std::uint64_t i) const { return load_le<std::uint64_t>(block(i) + 8); }
  [[nodiscard]] std::uint64_t taken_of(std::uint64_t i) const { return load_le<std::uint16_t>(block(i) + 16); }
  [[nodiscard]] bool ends(std::uint64_t slot) const { return ((ends_of(slot / 64) >> (slot % 64)) & 1) != 0; }

  /// The slot behind the first `runs` runs of this block, or behind those of earlier blocks if that is 0.
  [[nodiscard]] std::uint64_t end_of(std::uint64_t block, int runs) const;
  /// The slot behind the runs of all quotients up to this one; at most the quotient if there is none that reaches it.
  [[nodiscard]] std::uint64_t end_up_to(std::uint64_t quotient) const {
    const std::uint64_t through = ~std::uint64_t{0} >> (63 - quotient % 64);
    return end_of(quotient / 64, std::popcount(occupied_of(quotient / 64) & through));
  }

  QuotientShape shape_;
  const std::byte* bytes_ = nullptr;
};

/// Changes a table. Its bytes are a whole table before and after each call.
///
/// Threads: one.
class QuotientTableWriter : public QuotientTable {
 public:
  QuotientTableWriter(QuotientShape shape, std::byte* bytes) : QuotientTable(shape, bytes), to_(bytes) {}

  /// Adds an entry to the end of the quotient's run; false, changing nothing, if the slots behind are all used.
  [[nodiscard]] bool insert(std::uint64_t quotient, std::uint64_t entry);
  /// Removes the entry in this slot of the quotient's run.
  void erase(std::uint64_t quotient, std::uint64_t slot);

  /// Writes an empty table from its beginning: quotients in ascending order, then finish_appending. False if the slots
  /// do not suffice; the bytes are then no table.
  [[nodiscard]] bool append(std::uint64_t quotient, std::uint64_t entry);
  [[nodiscard]] bool finish_appending();

 private:
  void set_entry(std::uint64_t slot, std::uint64_t entry);
  void set_occupied(std::uint64_t quotient, bool is_occupied);
  void set_ends(std::uint64_t slot, bool ends);
  void set_taken(std::uint64_t block, std::uint64_t slots);
  void move_entry(std::uint64_t from, std::uint64_t to);
  void count_taken(std::uint64_t after_quotient, std::uint64_t last_slot, std::int64_t change);
  [[nodiscard]] std::uint64_t first_unused(std::uint64_t slot) const;

  std::byte* to_;

  // Of `append`.
  std::uint64_t next_slot_ = 0;
  std::uint64_t next_block_ = 1;  // The first whose `taken` is not written yet.
  bool fits_ = true;
};

}  // namespace tamis
