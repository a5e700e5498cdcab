// The filter options of the C API.
#pragma once

#include "tamis/c/filter.h"
#include "tamis/filter.h"

struct tamis_filter_options {
  tamis::FilterOptions options;
};

struct tamis_filter {
  tamis::Filter filter;
};

namespace tamis::capi {

/// What header and bits reveal, as JSON that the caller frees.
char* give_info(const FilterInfo& info);

}  // namespace tamis::capi
