// The lab for single filters: what keys do to a filter, and what it then answers.
#pragma once

#include <string>

#include "web/answer.h"

namespace tamis::web {

/// A filter made as the parameters say, as JSON. The page keeps the parameters: nothing is stored here.
///
///   kind, capacity, bits_per_key    the filter
///   key (any number), generated=N   the keys that it gets, in this order; the N are made up
///   probe                           a key to ask for
///
/// The rate is measured with 20,000 keys that were not added. Of a filter that keys can be added to, `bits` of a key
/// are those that it sets in an empty one. Throws CommandError for parameters out of range, and for a kind that cannot
/// be so small.
std::string filter_lab(const Parameters& parameters);

}  // namespace tamis::web
