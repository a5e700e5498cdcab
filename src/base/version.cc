#include "tamis/version.h"

namespace tamis {

std::string_view version() { return TAMIS_VERSION_STRING; }

}  // namespace tamis
