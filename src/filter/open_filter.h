// The state behind an open Filter.
#pragma once

#include <string_view>
#include <utility>

#include "base/hash.h"
#include "filter/filter_image.h"
#include "filter/filter_kind.h"
#include "tamis/filter.h"

namespace tamis {

KeyHasher hasher_of(const FilterSeed& seed);

/// A filter's bytes, hash function and probe, shared by all copies of a Filter.
///
/// Threads: immutable once open.
class OpenFilter {
 public:
  explicit OpenFilter(FilterImage from) : image(std::move(from)), hasher(hasher_of(image.header.seed)) {}

  FilterImage image;
  KeyHasher hasher;
  FilterProbe probe;
};

/// Checks the body against the header and prepares the probe; error messages use `name`.
Result<FilterProbe> open_probe(const FilterImage& image, std::string_view name);
Result<Filter> open_filter(FilterImage image, std::string_view name);
/// Null is an empty filter, which always answers maybe.
FilterInfo info_of(const OpenFilter* open);

/// The status of an empty filter for calls that need bytes.
inline Status no_filter() { return Status::closed("this filter is empty: it was moved from or never created"); }

}  // namespace tamis
