// tamis web: runs tamis-web, the only program that links an HTTP server.
#include "cli/web.h"

#include <fmt/core.h>

#include <limits>
#include <string_view>

#include "cli/numbers.h"
#include "cli/start_program.h"
#include "cli/verbs.h"

namespace tamis::cli {
namespace {

constexpr std::string_view kWhereItIs =
    "it is a program of its own, in the package tamis-web; './scripts/build' builds it beside the command where "
    "libcpp-httplib-dev is installed";

std::uint32_t parse_port(std::string_view option, std::string_view text) {
  const std::uint64_t port = parse_count(option, text);
  if (port == 0 || port > std::numeric_limits<std::uint16_t>::max()) {
    usage_error(fmt::format("{}: {} is no port; ports are 1 to 65535", option, port));
  }
  return static_cast<std::uint32_t>(port);
}

}  // namespace

VerbHelp WebArguments::help() {
  return {.summary =
              "Shows a store in a browser on this machine: the tree with its filters, lookups step by step, live "
              "counters, the filter plan, and a lab for single filters. Prints the address and serves it until Ctrl-C, "
              "on 127.0.0.1 only; the address holds a secret, and requests without it are refused. Reads only, takes "
              "no lock, and follows a process that writes the store.",
          .usage = "DIR [--port N]",
          .example =
              "  tamis web cities\n"
              "  tamis web cities --port 8080",
          .common = kJson};
}

void WebArguments::declare(CommandLine& line) {
  store.declare(line);
  line.option("--port", "N", "the port; default: any that is free", port, parse_port);
}

int run_web(Arguments arguments) {
  WebArguments web;
  CommandLine line(WebArguments::help());
  web.declare(line);
  if (!line.read(arguments)) return kExitOk;
  become("tamis-web", {arguments.words.begin(), arguments.words.end()}, kWhereItIs);
}

}  // namespace tamis::cli
