// What stands behind a Filter once it is open.
#pragma once

#include <string_view>
#include <utility>

#include "base/hash.h"
#include "filter/filter_image.h"
#include "filter/filter_kind.h"
#include "filter/tiny_set.h"
#include "tamis/filter.h"

namespace tamis {

KeyHasher hasher_of(const FilterSeed& seed);

/// A filter's bytes, its hash function and its probe. Shared by all copies of a Filter.
///
/// Threads: constant once open.
class OpenFilter {
 public:
  explicit OpenFilter(FilterImage from) : image(std::move(from)), hasher(hasher_of(image.header.seed)) {}

  FilterImage image;
  KeyHasher hasher;
  FilterProbe probe;
};

/// Checks the body against the header and prepares the probe; `name` is for error messages.
Result<FilterProbe> open_probe(const FilterImage& image, std::string_view name);
Result<Filter> open_filter(FilterImage image, std::string_view name);
FilterInfo info_of(const FilterImage& image);

/// What a filter without bytes says, which answers maybe to everything.
inline FilterInfo info_of_none() {
  FilterInfo info;
  info.estimated_rate = info.designed_rate = 1;
  return info;
}
/// What such a filter answers to everything that needs bytes.
inline Status no_filter() { return Status::closed("this filter has no bytes: it was moved from or never made"); }

}  // namespace tamis
