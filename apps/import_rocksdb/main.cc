// tamis-import-rocksdb: what 'tamis import rocksdb' runs. The only program for users that links RocksDB's library.
#include <span>
#include <string>

#include "cli/program.h"
#include "cli/store/import.h"
#include "import_rocksdb/rocksdb_source.h"

namespace tamis::cli {
namespace {

int import_rocksdb(std::span<const std::string> words) {
  ImportArguments import;
  CommandLine line({.summary = "Copies a RocksDB store into a new tamis store; see 'tamis import rocksdb --help'.",
                    .usage = "FOLDER DIR [--option NAME=VALUE]",
                    .example = "  tamis import rocksdb old-store new-store",
                    .common = kJson | kQuiet | kNoProgress});
  import.declare(line);
  if (!line.read({"import rocksdb", words})) return kExitOk;
  check_import_target(import.store.directory);
  RocksDbSource source(import.folder);
  import_store(source, import, line.common());
  return kExitOk;
}

}  // namespace
}  // namespace tamis::cli

int main(int argc, char** argv) { return tamis::cli::run_program(argc, argv, tamis::cli::import_rocksdb); }
