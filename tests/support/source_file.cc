#include "support/source_file.h"

namespace tamis {

std::string source_file(std::string_view relative) { return std::string(TAMIS_SOURCE_DIR "/").append(relative); }

}  // namespace tamis
