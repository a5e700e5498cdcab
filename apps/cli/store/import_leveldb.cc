// tamis import leveldb, and tamis import rocksdb, which another program does.
#include <string>
#include <utility>

#include "cli/start_program.h"
#include "cli/store/import.h"
#include "cli/verbs.h"
#include "tamis/leveldb_folder.h"

namespace tamis::cli {
namespace {

class LevelDbSource final : public ImportSource {
 public:
  explicit LevelDbSource(const std::string& folder) : folder_(need(LevelDbFolder::open(folder))) {
    for (const std::string& note : folder_.notes()) report_note(note);
  }

  bool next() override { return folder_.next(); }
  [[nodiscard]] std::string_view key() const override { return folder_.key(); }
  [[nodiscard]] std::string_view value() const override { return folder_.value(); }
  void finish() override {
    need(folder_.status());
    need(folder_.finish());
  }
  [[nodiscard]] std::uint64_t bytes() const override { return folder_.bytes(); }
  [[nodiscard]] std::uint64_t bytes_read() const override { return folder_.bytes_read(); }

 private:
  LevelDbFolder folder_;
};

}  // namespace

int run_import_leveldb(Arguments arguments) {
  ImportArguments import;
  CommandLine line({.summary =
                        "Copies a LevelDB store into a new tamis store. LevelDB is not needed, and the store must "
                        "not be open. The copy is verified: count and checksum of all entries must be the same. "
                        "DIR appears when it is complete; an import that was stopped begins anew.",
                    .usage = "FOLDER DIR [--option NAME=VALUE]",
                    .example = "  tamis import leveldb old-store new-store",
                    .common = kJson | kQuiet | kNoProgress});
  import.declare(line);
  if (!line.read(arguments)) return kExitOk;
  check_import_target(import.store.directory);
  LevelDbSource source(import.folder);
  import_store(source, import, line.common());
  return kExitOk;
}

int run_import_rocksdb(Arguments arguments) {
  ImportArguments import;
  CommandLine line({.summary =
                        "Copies a RocksDB store into a new tamis store, every column family into the keyspace of its "
                        "name. Runs tamis-import-rocksdb, which reads the store with RocksDB's own library. The copy "
                        "is verified: count and checksum of all entries must be the same. DIR appears when it is "
                        "complete; an import that was stopped begins anew.",
                    .usage = "FOLDER DIR [--option NAME=VALUE]",
                    .example = "  tamis import rocksdb old-store new-store",
                    .common = kJson | kQuiet | kNoProgress});
  import.declare(line);
  if (!line.read(arguments)) return kExitOk;
  std::vector<std::string> words;
  for (const std::string& setting : import.store.settings) words.insert(words.end(), {"--option", setting});
  if (line.common().json) words.emplace_back("--json");
  if (line.common().quiet) words.emplace_back("--quiet");
  if (line.common().no_progress) words.emplace_back("--no-progress");
  words.insert(words.end(), {"--", import.folder, import.store.directory});
  become(
      "tamis-import-rocksdb", std::move(words),
      "it is a separate program that links RocksDB's library; './scripts/build' builds it, beside the command, where "
      "Debian's librocksdb-dev is installed");
}

}  // namespace tamis::cli
