// A filter as bytes: tamis's container, a header of 128 bytes followed by the kind's body.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/aligned_bytes.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "filter/filter_format.h"
#include "io/file.h"
#include "tamis/filter.h"

namespace tamis {

/// A header and its bytes. The first kFilterHeaderBytes are reserved for the encoded header, which `seal` writes.
/// Between a change and `seal`, the struct is authoritative.
///
/// Threads: like a value.
class FilterImage {
 public:
  /// A zeroed body of this size, and these numbers in the header; kNotSupported without enough memory.
  static Result<FilterImage> with_body(std::uint64_t body_bytes, std::uint32_t hashes = 0, std::uint64_t number = 0);
  /// Decodes and verifies a container: magic, version, lengths, checksum.
  static Result<FilterImage> decode(Bytes bytes, std::string_view name);
  /// The same without a copy.
  static Result<FilterImage> decode(AlignedBytes bytes, std::string_view name);
  /// The same for a mapped file.
  static Result<FilterImage> of_mapped(MappedFile file, std::string_view name);

  FilterHeader header;

  [[nodiscard]] Bytes body() const { return container().subspan(kFilterHeaderBytes); }
  /// Only for images that own their bytes (not mapped ones).
  [[nodiscard]] MutableBytes mutable_body() { return owned_.span().subspan(kFilterHeaderBytes); }
  [[nodiscard]] Bytes container() const { return mapped_ ? mapped_->bytes() : owned_.span(); }

  /// Writes header and checksum into the bytes.
  void seal();
  /// A copy that owns its bytes.
  [[nodiscard]] FilterImage copy() const;

 private:
  AlignedBytes owned_;
  std::optional<MappedFile> mapped_;
};

/// kNotSupported: not enough memory for a filter of this size.
Status no_memory_for(std::uint64_t bytes);

}  // namespace tamis
