// The bytes of a table around its blocks: header, section positions, properties, footer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "table/table_facts.h"
#include "tamis/filter.h"
#include "tamis/status.h"

namespace tamis {

/// Whose table it is: the store's id, and the key of its hash.
struct TableIdentity {
  std::array<std::byte, 16> store_id = {};
  KeyHasher::Key hash_key = {};

  friend bool operator==(const TableIdentity&, const TableIdentity&) = default;
};

/// A part of a table's file.
struct Section {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  ///< 0: there is none.

  friend bool operator==(const Section&, const Section&) = default;
};

/// Everything a table says of itself.
struct TableProperties {
  TableIdentity identity;
  TableFacts facts;
  Section filter;
  Section prefix_filter;
  Section index;
  PrefixRule prefix_rule;
  std::uint8_t codec = 0;
  std::uint32_t block_bytes = 0;
  std::uint32_t level = 0;
  std::uint64_t run = 0;
  std::vector<std::uint64_t> replaces;

  friend bool operator==(const TableProperties&, const TableProperties&) = default;
};

/// Facts as tagged fields; used inside properties and inside manifest edits.
void append_facts(std::string& to, const TableFacts& facts);
Result<TableFacts> decode_facts(ByteReader& reader);

}  // namespace tamis
