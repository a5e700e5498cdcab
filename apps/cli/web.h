// The arguments of `tamis web`, for the verb and for the program that it starts.
#pragma once

#include <cstdint>
#include <optional>

#include "cli/store/common.h"

namespace tamis::cli {

struct WebArguments {
  StoreArguments store;
  std::optional<std::uint32_t> port;

  void declare(CommandLine& line);
  static VerbHelp help();
};

}  // namespace tamis::cli
