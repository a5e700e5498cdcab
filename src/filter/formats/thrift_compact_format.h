// The subset of Thrift's compact protocol that Parquet's metadata needs: finds fields by number, skips the rest.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/try.h"
#include "tamis/status.h"

namespace tamis::foreign {

/// Types as encoded in field and list headers.
enum class ThriftType : std::uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kI16 = 4,
  kI32 = 5,
  kI64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
};

struct ThriftField {
  std::int32_t id = 0;
  ThriftType type = ThriftType::kStop;
};

struct ThriftList {
  std::uint64_t size = 0;
  ThriftType type = ThriftType::kStop;
};

/// The next field of a struct, or kStop after the last; updates `last_id`, which begins at 0.
Result<ThriftField> read_thrift_field(ByteReader& reader, std::int32_t& last_id);

/// Calls `read`(field) for each field of a struct, in order; it must read or skip the value.
template <typename Read>
Status read_thrift_struct(ByteReader& reader, Read read) {
  for (std::int32_t last_id = 0;;) {
    TAMIS_TRY(const ThriftField field, read_thrift_field(reader, last_id));
    if (field.type == ThriftType::kStop) return {};
    TAMIS_TRY_STATUS(read(field));
  }
}

/// A zigzag number: the value of an i16, i32 or i64 field.
Result<std::int64_t> read_thrift_integer(ByteReader& reader);
Result<Bytes> read_thrift_binary(ByteReader& reader);
/// A list's header; its size does not exceed the remaining bytes.
Result<ThriftList> read_thrift_list(ByteReader& reader);
/// Skips a value of any type; limits nesting, and thus the stack.
Status skip_thrift_value(ByteReader& reader, ThriftType type, int depth = 0);

}  // namespace tamis::foreign
