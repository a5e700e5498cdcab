// Reads the folder of a LevelDB store, without LevelDB.
//
//     tamis::Result<tamis::LevelDbFolder> folder = tamis::LevelDbFolder::open("old");
//     while (folder->next()) copy(folder->key(), folder->value());
//     // folder->finish() tells whether that was all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/export.h"
#include "tamis/status.h"

namespace tamis {

class LevelDbFolderState;  // src/leveldb_files/leveldb_folder.cc.

/// The entries of a LevelDB store in key order: the newest value of each key that is not deleted. Tables, logs and the
/// manifest are read as LevelDB 1.23 and later write them, blocks compressed with Snappy or Zstandard included.
///
/// The folder is not changed: files are opened for reading only, and no lock is taken. A store that another process
/// has open is refused (kBusy). It must not be open in this process: that is not noticed, and reading drops LevelDB's
/// lock.
///
/// Everything returned was checked; damaged bytes are kCorruption with file and offset. A record at the end of the
/// newest log or of the manifest that is incomplete is left out, as LevelDB does: notes() says so.
///
/// Memory: what the logs hold; and for each level, and each table of level 0, an index and a block.
///
/// One that was default-constructed or moved from belongs to no folder: it has no entries, and its calls return
/// kClosed.
///
/// Threads: one at a time.
class TAMIS_EXPORT LevelDbFolder {
 public:
  /// Reads the manifest and the logs. kIoError if there is no store, kBusy if a process has it open, kNotSupported for
  /// an order of keys other than leveldb.BytewiseComparator and for a RocksDB store.
  static Result<LevelDbFolder> open(const std::string& path);

  /// Belongs to no folder.
  LevelDbFolder() noexcept;
  /// Moves the position; the source then belongs to no folder.
  LevelDbFolder(LevelDbFolder&&) noexcept;
  /// Like the constructor; drops the position this had.
  LevelDbFolder& operator=(LevelDbFolder&&) noexcept;
  /// Closes the files.
  ~LevelDbFolder();

  /// Moves to the first or next entry. False at the end and after an error: see status().
  [[nodiscard]] bool next();
  /// The entry's key, valid until the next call to next(); empty before the first and after the last entry.
  [[nodiscard]] std::string_view key() const;
  /// The entry's value, valid until the next call to next(); empty before the first and after the last entry.
  [[nodiscard]] std::string_view value() const;
  /// ok at the end, otherwise why it stopped; kClosed if it belongs to no folder.
  [[nodiscard]] const Status& status() const;
  /// After the last entry: whether the store stayed as it was when it was opened. kBusy if not: begin again.
  [[nodiscard]] Status finish() const;

  /// The number of tables that belong to the store.
  [[nodiscard]] std::uint64_t tables() const;
  /// The number of logs that belong to the store.
  [[nodiscard]] std::uint64_t logs() const;
  /// The bytes of these tables and logs.
  [[nodiscard]] std::uint64_t bytes() const;
  /// How many of them were read so far. Indexes and filters are not counted.
  [[nodiscard]] std::uint64_t bytes_read() const;
  /// What a person should know: sentences about what was left out.
  [[nodiscard]] const std::vector<std::string>& notes() const;

 private:
  explicit LevelDbFolder(std::unique_ptr<LevelDbFolderState> state);
  std::unique_ptr<LevelDbFolderState> state_;
};

}  // namespace tamis
