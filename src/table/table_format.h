// The bytes of a table around its blocks: header, properties, footer. Documented with hex in docs/FORMAT.md; frozen by
// tests/golden/tables.
//
//     header, data blocks, filter, prefix filter, range filter, range deletes, index, properties, footer: without gaps
//
//     header                                              footer
//     offset size                                         offset size
//          0    8  magic "TAMISTBL"                            0    8  offset of the properties
//          8    2  version, 2                                  8    8  bytes of the properties
//         10    1  file kind: 3 table                         16    8  XXH3-64 of the properties, then of bytes 0 … 15
//         11    1  zero                                       24    8  magic "TAMISEND"
//         12    4  header bytes, 64
//         16    4  features needed to read
//         20    4  features needed to write
//         24    8  optional features
//         32   16  store id
//         48    8  table number
//         56    8  XXH3-64 of bytes 0 … 55
//
// Properties and facts are fields, tags ascending, then a byte of zero:
//     varint   tag · 2 + 1 if a reader that does not know the tag must refuse
//     varint   bytes of the value
//     –        the value: numbers have 8 bytes
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/features.h"
#include "base/file_header_format.h"
#include "base/hash.h"
#include "entry/keyspace_id.h"
#include "table/table_facts.h"
#include "tamis/filter.h"
#include "tamis/status.h"

namespace tamis {

inline constexpr std::string_view kTableMagic = "TAMISTBL";
inline constexpr std::string_view kTableEndMagic = "TAMISEND";
inline constexpr std::uint16_t kTableVersion = 2;
inline constexpr std::size_t kTableHeaderBytes = kNumberedFileHeaderBytes;
inline constexpr std::size_t kTableFooterBytes = 32;
/// The key hash: XXH3-64 with a secret derived from the hash key (KeyHasher). On disk; other numbers are other hashes.
inline constexpr std::uint8_t kKeyedXxh3 = 1;
inline constexpr std::string_view kBytewiseOrder = "bytewise";

/// Whose table it is: the store's id and its hash key.
struct TableIdentity {
  std::array<std::byte, 16> store_id = {};
  KeyHasher::Key hash_key = {};

  friend bool operator==(const TableIdentity&, const TableIdentity&) = default;
};

/// A part of a table's file.
struct Section {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  ///< 0: absent.
  /// XXH3-64 of the bytes of a filter or of range deletes, which do not identify their table; else 0. Of a filter in
  /// slices, only of header and first slice: the others have checksums that these seed.
  std::uint64_t checksum = 0;

  [[nodiscard]] std::uint64_t end() const { return offset + bytes; }

  friend bool operator==(const Section&, const Section&) = default;
};

/// Everything a table records about itself.
struct TableProperties {
  TableIdentity identity;
  KeyspaceId keyspace = kDefaultKeyspace;
  std::string keyspace_name;  ///< Empty for the default keyspace.
  std::uint8_t hash_id = kKeyedXxh3;
  TableFacts facts;
  Section filter;
  Section prefix_filter;
  Section range_filter;               ///< Absent if there is none.
  Section range_deletes;              ///< Absent if there are none.
  Section index;                      ///< Absent without entries.
  std::uint32_t index_top_bytes = 0;  ///< The last of the index's; 0: it has a single part.
  PrefixRule prefix_rule;
  std::uint8_t codec = 0;
  std::uint32_t block_bytes = 0;
  std::uint32_t level = 0;
  std::uint64_t run = 0;
  /// Those of its rewrite's inputs that overlap it, and obsolete tables that were not gone yet.
  std::vector<std::uint64_t> replaces;
  std::uint64_t rewrite = 0;  ///< The number of the first table that the same rewrite wrote; 0: it is alone.
  /// When this table was begun, all writes up to here were durable in tables: no journal is needed for them.
  std::uint64_t flushed_sequence = 0;

  friend bool operator==(const TableProperties&, const TableProperties&) = default;
};

/// The contents of a table's header.
using TableHeader = NumberedFileHeader;
using TableHeaderBytes = NumberedFileHeaderBytes;
TableHeaderBytes encode_table_header(const TableHeader& header);
/// kCorruption for bad bytes; kNotSupported for an intact header of another version or with an unknown feature.
Result<TableHeader> decode_table_header(Bytes bytes, std::string_view name);

/// `offset` is where the properties begin in the file; the footer follows them.
std::string encode_footer(Bytes properties, std::uint64_t offset);
/// Where the properties are. `file_bytes` is the length of the file that ends with this footer.
Result<Section> decode_footer(Bytes footer, std::uint64_t file_bytes, std::string_view name);
/// Whether these properties match the footer.
Status check_properties(Bytes properties, Bytes footer, std::string_view name);

/// Its length does not depend on the numbers, so that a file's length can be computed before it is in its properties.
std::string encode_properties(const TableProperties& properties);
/// kNotSupported for an unknown required field or order; kCorruption for impossible fields. `offset` is where
/// the properties begin in their file: the sections must lie before it, one after the other.
Result<TableProperties> decode_properties(Bytes bytes, std::uint64_t offset, std::string_view name);

/// Facts as tagged fields, for properties and manifest edits. Self-delimiting.
void append_facts(std::string& to, const TableFacts& facts);
Result<TableFacts> decode_facts(ByteReader& reader);

}  // namespace tamis
