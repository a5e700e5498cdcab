// Imports a store of another system: what is the same for all systems. tamis-import-rocksdb uses it too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/store/common.h"

namespace tamis::cli {

/// A store of another system: its entries, keyspace by keyspace, in key order. What fails throws a CommandError.
///
/// Threads: one at a time.
class ImportSource {
 public:
  ImportSource() = default;
  ImportSource(const ImportSource&) = delete;
  ImportSource& operator=(const ImportSource&) = delete;
  virtual ~ImportSource() = default;

  /// Their names in the new store.
  [[nodiscard]] virtual std::vector<std::string> keyspaces() const { return {"default"}; }
  /// Before the first entry of each of them, in that order.
  virtual void begin(const std::string& /*keyspace*/) {}
  /// To the first or next entry; false after the last.
  virtual bool next() = 0;
  /// Both live until the next call to next.
  [[nodiscard]] virtual std::string_view key() const = 0;
  [[nodiscard]] virtual std::string_view value() const = 0;
  /// After the last entry: that this was all, and that nothing has changed meanwhile.
  virtual void finish() {}

  /// For the progress: of the files that are read.
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  [[nodiscard]] virtual std::uint64_t bytes_read() const = 0;
};

/// What an import verb is called with.
struct ImportArguments {
  std::string folder;  // Of the other system.
  StoreArguments store;

  void declare(CommandLine& line);
};

/// Refuses a folder into which nothing can be imported, before anything is read.
void check_import_target(const std::string& directory);

/// Copies all entries into a new store, compares count and checksum of what was read and of what is stored, and gives
/// the store its name last: until then it is the folder DIR.importing. One that an earlier import left is removed
/// first.
void import_store(ImportSource& source, const ImportArguments& arguments, const CommonOptions& options);

}  // namespace tamis::cli
