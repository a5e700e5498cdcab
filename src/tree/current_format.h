// The bytes of CURRENT. Documented with hex in docs/FORMAT.md; frozen by tests/golden/manifest.
//
//     offset size
//          0    8  magic "TAMISCUR"
//          8    2  version, 2
//         10    1  file kind: 4 current
//         11    1  zero
//         12    4  bytes of the file, 128
//         16    4  features needed to read
//         20    4  features needed to write
//         24    8  optional features
//         32   16  store id
//         48    8  number of the manifest
//         56    8  salt of the manifest
//         64    8  bytes of the manifest that are durable
//         72    8  number of a journal that was closed cleanly; 0: none is known
//         80    8  its salt
//         88    8  its durable bytes
//         96    8  term
//        104   16  zero, reserved
//        120    8  XXH3-64 of bytes 0 … 119
//
// All numbers little-endian. It fits a sector, but does not rely on that: it is replaced by a rename.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "journal/journal_format.h"
#include "tamis/status.h"
#include "tree/manifest_state.h"

namespace tamis {

inline constexpr std::string_view kCurrentMagic = "TAMISCUR";
inline constexpr std::uint16_t kCurrentVersion = 2;
inline constexpr std::uint8_t kCurrentFileKind = 4;
inline constexpr std::size_t kCurrentBytes = 128;

/// Which manifest is current, and how far it was durable.
struct Current {
  StoreId store_id = {};
  std::uint64_t manifest_number = 0;
  std::uint64_t manifest_salt = 0;
  std::uint64_t manifest_durable_bytes = 0;
  KnownJournalEnd journal_end;
  std::uint64_t term = 0;  ///< The manifest's (rule 42), for those who read nothing else.
  Features features = {};  ///< Of the whole store, as in the manifest's header.

  friend bool operator==(const Current&, const Current&) = default;
};

using CurrentBytes = std::array<std::byte, kCurrentBytes>;
CurrentBytes encode_current(const Current& current);
/// kCorruption for bad bytes; kNotSupported for intact ones of another version or with an unknown feature.
Result<Current> decode_current(Bytes bytes, std::string_view name);

}  // namespace tamis
