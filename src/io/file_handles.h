// Files open for reading, within the descriptor limit.
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

/// Opens files when first read and keeps the most recently used ones open, approximately: the oldest one is closed, but
/// is spared once if it was used meanwhile. A file that is open is found without a mutex.
///
/// Invariants:
///  1. At most `limit` files are kept open, plus those being read.
///  2. If the system is out of descriptors (EMFILE), all unused files are closed and the open is retried.
///
/// Threads: any, not inside an EpochGuard.
class FileHandles {
 public:
  FileHandles(FileSystem& files, std::size_t limit, ReadMode mode = ReadMode::kCached);
  ~FileHandles();

  /// The open file of this id; opens `path` if needed. It stays open while the caller holds it.
  Result<std::shared_ptr<const ReadableFile>> open(std::uint64_t id, const std::string& path);
  /// Whether no such file exists. Costs a call; to be asked when opening has failed.
  [[nodiscard]] bool is_missing(const std::string& path) const;
  /// FileSystem::read_many, for files opened here.
  void read_many(std::span<FileRead> reads);
  /// Forgets the file, before it is removed.
  void close(std::uint64_t id);
  [[nodiscard]] std::size_t open_files() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// How many files to keep open: `most`, or half of the process's limit if that is less. The other half is for journals,
/// the manifest, tables being written, and the program itself.
std::size_t files_to_keep_open(std::size_t most);

}  // namespace tamis
