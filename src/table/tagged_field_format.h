// Fields with a tag, a length and a bit that says whether an old reader may skip them.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/try.h"
#include "tamis/status.h"

namespace tamis {

enum class FieldNeed : std::uint8_t {
  kOptional = 0,  ///< A reader that does not know the tag skips it.
  kRequired = 1,  ///< It refuses, naming the tag.
};

inline void append_field(std::string& to, std::uint32_t tag, FieldNeed need, std::string_view value) {
  append_varint(to, std::uint64_t{tag} * 2 + static_cast<std::uint64_t>(need));
  append_varint(to, value.size());
  to.append(value);
}
inline void append_number_field(std::string& to, std::uint32_t tag, FieldNeed need, std::uint64_t value) {
  char raw[8];
  store_le(raw, value);
  append_field(to, tag, need, {raw, sizeof raw});
}
inline void append_fields_end(std::string& to) { to.push_back('\0'); }

struct TaggedField {
  std::uint32_t tag = 0;
  FieldNeed need = FieldNeed::kOptional;
  Bytes value;
};

/// Iterates over a reader's fields up to their end.
///
/// Invariants: tags ascend, so none is repeated.
///
/// Threads: one at a time.
class TaggedFields {
 public:
  explicit TaggedFields(ByteReader& reader) : reader_(reader) {}

  /// Nullopt at the end.
  Result<std::optional<TaggedField>> next() {
    TAMIS_TRY(const std::uint64_t key, reader_.read_varint("field tag"));
    if (key == 0) return std::optional<TaggedField>();
    const std::uint64_t tag = key / 2;
    if (tag <= last_tag_ || tag > 0xffff'ffff) return reader_.corruption(fmt::format("field {} does not ascend", tag));
    last_tag_ = tag;
    TAMIS_TRY(const std::uint64_t bytes, reader_.read_varint("field length"));
    TAMIS_TRY(const Bytes value, reader_.read(bytes, "field value"));
    return std::optional(TaggedField{static_cast<std::uint32_t>(tag), static_cast<FieldNeed>(key % 2), value});
  }

  /// For an unknown tag: success if it may be skipped.
  static Status pass_over(const TaggedField& field, std::string_view name) {
    if (field.need == FieldNeed::kOptional) return {};
    return Status::not_supported(
        fmt::format("{}: field {} is not known to this build; use a newer tamis", name, field.tag));
  }

 private:
  ByteReader& reader_;
  std::uint64_t last_tag_ = 0;
};

}  // namespace tamis
