// The subset of Thrift's compact protocol that Parquet's metadata needs: finds fields by number, skips the rest.
#pragma once

#include <cstdint>

#include "base/bytes.h"
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

/// Reads one struct's fields in order. Nested values are read or skipped through the same ByteReader.
///
///     for (ThriftStruct fields(reader);;) {
///       TAMIS_TRY(const ThriftField field, fields.next());
///       if (field.type == ThriftType::kStop) break;
///       ...read or skip the value...
///     }
///
/// Threads: one at a time.
class ThriftStruct {
 public:
  explicit ThriftStruct(ByteReader& reader) : reader_(reader) {}
  /// The next field's number and type; kStop after the last.
  Result<ThriftField> next();

 private:
  ByteReader& reader_;
  std::int32_t last_id_ = 0;
};

/// A zigzag number: the value of an i16, i32 or i64 field.
Result<std::int64_t> read_thrift_integer(ByteReader& reader);
Result<Bytes> read_thrift_binary(ByteReader& reader);
/// A list's header; its size does not exceed the remaining bytes.
Result<ThriftList> read_thrift_list(ByteReader& reader);
/// Skips a value of any type; limits nesting, and thus the stack.
Status skip_thrift_value(ByteReader& reader, ThriftType type, int depth = 0);

}  // namespace tamis::foreign
