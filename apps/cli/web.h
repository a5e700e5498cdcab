// The arguments of `tamis web`, for the verb and for the program that it starts.
#pragma once

#include <cstdint>
#include <optional>

#include "cli/store/common.h"

namespace tamis::cli {

/// What `tamis web` and tamis-web are given; both read it.
struct WebArguments {
  StoreArguments store;
  std::optional<std::uint32_t> port;

  void declare(CommandLine& line);
  static VerbHelp help();
};

}  // namespace tamis::cli
