// Which format a file is in when nobody said.
#pragma once

#include "filter/formats/format.h"

namespace tamis::foreign {

/// The one format that fits, by name and content. kInvalidArgument names all that fit when there are several, or when
/// one only could: reading a filter as something it is not would turn "maybe" into "no".
Result<const Format*> guess_format(const Input& input);

}  // namespace tamis::foreign
