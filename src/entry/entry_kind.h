// The kinds of entries.
#pragma once

#include <cstdint>
#include <string>

namespace tamis {

/// One byte, the same in a batch, a block and memory; permanent on disk. The low three bits are the kind: 1 put,
/// 2 delete, 3 merge operand, 4 range delete. 8 and 16 are flags: the entry expires, its value is apart. 0 is never a
/// kind: in a batch it marks a keyspace.
enum class EntryKind : std::uint8_t {
  kPut = 1,
  kDelete = 2,
  kMerge = 3,        ///< An operand, which is folded with what is beneath it (operand_chain.h).
  kRangeDelete = 4,  ///< In batches; memtables and tables keep them apart (range_tombstones.h).
  /// In a block, and in entries as iterators over tables show them: the kind is the first byte of the value (plain, in
  /// entry.h). Never in a batch or a memtable.
  kInValue = 7,
  kExpiringPut = 9,  ///< The value begins with the time when it is due (expiry.h).
  // In tables alone: the value is a pointer into a value file (table/value_file_format.h).
  kPutApart = 17,
  kExpiringPutApart = 25,  ///< The time when it is due, then the pointer.
};

/// Whether the value is a pointer into a value file, behind its due time if it expires.
constexpr bool is_apart(EntryKind kind) { return (static_cast<std::uint8_t>(kind) & 16) != 0; }
/// Whether the value begins with the time when it is due.
constexpr bool expires(EntryKind kind) { return (static_cast<std::uint8_t>(kind) & 8) != 0; }

/// Whether this build knows the kind in a block. Any other is kNotSupported, in bytes whose checksum holds. A range
/// delete is never in a block.
constexpr bool is_entry_kind(std::uint8_t number) {
  return (number >= 1 && number <= 3) || number == 9 || number == 17 || number == 25;
}
/// The same in a batch. No value is apart there.
constexpr bool is_batch_kind(std::uint8_t number) { return (number >= 1 && number <= 4) || number == 9; }
/// Whether a block has three bits for the kind, and so no byte.
constexpr bool fits_into_stamp(EntryKind kind) { return static_cast<std::uint8_t>(kind) < 7; }

/// For the error message about a kind that this build does not know: "entry kind 17: a put with its value apart, …".
std::string unknown_kind_text(std::uint8_t number);

}  // namespace tamis
