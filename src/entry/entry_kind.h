// The kinds of entries.
#pragma once

#include <cstdint>
#include <string>

namespace tamis {

/// One byte, the same in a batch, a block and memory; permanent on disk. The low three bits are the kind: 1 put,
/// 2 delete, 3 merge operand, 4 range delete. 8 and 16 are flags: the entry expires, its value is apart. 0 is never a
/// kind: in a batch it marks a keyspace.
enum class EntryKind : std::uint8_t { kPut = 1, kDelete = 2, kRangeDelete = 4 };

/// Whether this build knows the kind. Any other is kNotSupported, in bytes whose checksum holds. A range delete is never
/// in a block: tables keep them apart.
constexpr bool is_entry_kind(std::uint8_t number) { return number == 1 || number == 2; }
constexpr bool is_batch_kind(std::uint8_t number) { return is_entry_kind(number) || number == 4; }

/// For the error message about a kind that this build does not know: "entry kind 9: a put that expires, …".
std::string unknown_kind_text(std::uint8_t number);

}  // namespace tamis
