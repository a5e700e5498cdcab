// What a file needs from its reader, beyond its version. Documented in docs/FORMAT.md.
#pragma once

#include <cstdint>
#include <string_view>

#include "tamis/status.h"

namespace tamis {

/// Bit numbers on disk, the same in all files; never reused.
enum class Feature : std::uint8_t {
  kKeyspaces = 0,
  kRangeDeletes = 1,
  kExpiry = 2,
  kMerges = 3,
  kValuesApart = 4,
  kCommitsInTables = 5,
  kLongKeys = 6,
  kPaddedBlocks = 7,
  kRangeFilters = 8,
};

/// Three classes of features: a build that does not know a bit of `to_read` must not read the file, one that does not
/// know a bit of `to_write` may read the store and must not change it. `optional` bits may be ignored; what must
/// survive is never optional, because a writer drops what it does not know.
struct Features {
  std::uint32_t to_read = 0;
  std::uint32_t to_write = 0;
  std::uint64_t optional = 0;

  /// One that is needed to read, as all of Feature are.
  static constexpr Features of(Feature feature) {
    return {.to_read = std::uint32_t{1} << static_cast<unsigned>(feature), .to_write = 0, .optional = 0};
  }
  [[nodiscard]] constexpr bool includes(const Features& other) const {
    return (other.to_read & ~to_read) == 0 && (other.to_write & ~to_write) == 0 && (other.optional & ~optional) == 0;
  }
  constexpr Features& operator|=(const Features& other) {
    to_read |= other.to_read;
    to_write |= other.to_write;
    optional |= other.optional;
    return *this;
  }
  friend constexpr Features operator|(Features a, const Features& b) { return a |= b; }
  friend bool operator==(const Features&, const Features&) = default;
};

/// kNotSupported, naming the first feature, if this build does not know all that are needed to read the file `name`.
Status check_can_read(const Features& features, std::string_view name);
/// The same for changing it, or the store to which it belongs.
Status check_can_write(const Features& features, std::string_view name);

}  // namespace tamis
