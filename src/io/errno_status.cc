#include "io/errno_status.h"

#include <fmt/core.h>

#include <cerrno>
#include <system_error>

namespace tamis {

Status errno_status(std::string_view path, std::string_view doing, int error) {
  std::string message = fmt::format("{}: {}: {}", path, doing, std::generic_category().message(error));
  if (error == ENOSPC || error == EDQUOT || error == EMFILE || error == ENFILE)
    return Status::out_of_space(std::move(message));
  return Status::io_error(std::move(message));
}

}  // namespace tamis
