// The version of tamis. The macros are for C too.
#pragma once

/// The version of these headers. CMakeLists.txt reads the three numbers from here, so headers, libraries and packages
/// always agree. Before 1.0, a minor version may change the API.
#define TAMIS_VERSION_MAJOR 0
#define TAMIS_VERSION_MINOR 1  ///< See TAMIS_VERSION_MAJOR.
#define TAMIS_VERSION_PATCH 0  ///< See TAMIS_VERSION_MAJOR.

#define TAMIS_DETAIL_QUOTED(x) #x
#define TAMIS_DETAIL_DOTTED(x, y, z) TAMIS_DETAIL_QUOTED(x) "." TAMIS_DETAIL_QUOTED(y) "." TAMIS_DETAIL_QUOTED(z)

/// "MAJOR.MINOR.PATCH" of these headers, a string literal.
#define TAMIS_VERSION_STRING TAMIS_DETAIL_DOTTED(TAMIS_VERSION_MAJOR, TAMIS_VERSION_MINOR, TAMIS_VERSION_PATCH)

#ifdef __cplusplus
#include <string_view>

#include "tamis/export.h"

namespace tamis {

/// The version of the linked library. A shared library may be newer than the headers the program was compiled with,
/// TAMIS_VERSION_STRING.
TAMIS_EXPORT std::string_view version();

}  // namespace tamis
#endif
