// What errno means to a caller.
#pragma once

#include <string_view>

#include "tamis/status.h"

namespace tamis {

/// "path: doing: text of errno", and what to do where that helps: kOutOfSpace for a full disk or quota and for too many
/// open files, which pass when room is made; kIoError for everything else.
Status errno_status(std::string_view path, std::string_view doing, int error);

}  // namespace tamis
