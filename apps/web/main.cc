// tamis-web: serves a page about a store on 127.0.0.1. `tamis web` starts it.
#include <span>
#include <string>
#include <utility>

#include "cli/output.h"
#include "cli/program.h"
#include "cli/web.h"
#include "text/json.h"
#include "web/page_files.h"
#include "web/server.h"
#include "web/store_api.h"

namespace tamis::web {
namespace {

/// A follower takes no lock: a page that stays open for days must not keep a writer from opening the store.
DB open_followed(const cli::StoreArguments& store) {
  Options options = store.options(cli::StoreUse::kRead);
  options.follows = true;
  store.need_folder(false);
  Result<DB> opened = DB::open(store.directory, options);
  if (!opened.ok()) throw cli::error_of_opening(opened.status());
  return std::move(opened).value();
}

int run(std::span<const std::string> words) {
  cli::WebArguments web;
  cli::CommandLine line(cli::WebArguments::help());
  web.declare(line);
  if (!line.read({.verb = "web", .words = words})) return cli::kExitOk;
  StoreApi api(open_followed(web.store), web.store.directory);
  Server server([&api](const std::string& path, const Parameters& parameters) -> Answer {
    for (const PageFile& file : page_files()) {
      if (path == file.path) return {.type = std::string(file.type), .body = std::string(file.bytes)};
    }
    return api.answer(path, parameters);
  });
  const std::string address = server.bind(web.port);
  cli::Output& out = cli::standard_output();
  out.write(line.common().json ? JsonObject().add("url", address).line() : address + "\n");
  out.flush();
  if (!line.common().json) cli::report_note("open this address in a browser on this machine; Ctrl-C ends");
  server.serve();
  return cli::kExitOk;
}

}  // namespace
}  // namespace tamis::web

int main(int argc, char** argv) { return tamis::cli::run_program(argc, argv, tamis::web::run); }
