// Detection of a file's format.
#pragma once

#include "filter/formats/format.h"

namespace tamis::foreign {

/// The one format that matches name and content. Returns kInvalidArgument, naming the candidates, if there are several
/// or only weak ones: reading a filter in the wrong format would turn "maybe" into "no".
Result<const Format*> guess_format(const Input& input);

}  // namespace tamis::foreign
