// Maps errno to a Status.
#pragma once

#include <string_view>

#include "tamis/status.h"

namespace tamis {

/// "path: doing: text of errno", with advice where there is some: kOutOfSpace for a full disk or quota and for too many
/// open files, which pass once some are freed; kIoError otherwise.
Status errno_status(std::string_view path, std::string_view doing, int error);

}  // namespace tamis
