// Files open for reading, as many as there may be descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/sync.h"
#include "io/file_system.h"
#include "tamis/status.h"

namespace tamis {

/// Opens files when they are first read and keeps the most recently used ones open.
///
/// Invariants:
///  1. At most `limit` files are kept open, besides those somebody is reading at the moment.
///  2. When the system has no descriptor left (EMFILE), all that nobody uses are closed and the open is tried again.
///
/// Threads: any.
class FileHandles {
 public:
  FileHandles(FileSystem& files, std::size_t limit);
  ~FileHandles();

  /// The open file of this id, opened at `path` when it is not. It stays open while the caller holds it.
  Result<std::shared_ptr<const ReadableFile>> open(std::uint64_t id, const std::string& path);
  /// FileSystem::read_many, of files that were opened here.
  void read_many(std::span<FileRead> reads);
  /// Forgets the file, before it is removed.
  void close(std::uint64_t id);
  [[nodiscard]] std::size_t open_files() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// How many files may be kept open: `most`, or half of what this process may have when that is less. The other half is
/// for journals, the manifest, tables being written, and for the program itself.
std::size_t files_to_keep_open(std::size_t most);

}  // namespace tamis
