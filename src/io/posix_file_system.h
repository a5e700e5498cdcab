// The operating system's files.
#pragma once

#include <cstdint>
#include <optional>

#include "io/file_system.h"

namespace tamis {

/// The machine's file system; a stateless singleton. Every descriptor is O_CLOEXEC.
FileSystem& posix_file_system();

/// Part of it: an open-file-description lock. It belongs to the open file, not the process, so a second opener in the
/// same process is refused as well, and closing another descriptor of the file does not release it.
Result<std::unique_ptr<FileLock>> lock_posix_file(const std::string& path, LockMode mode);

/// The process that holds a lock on this file that belongs to processes (fcntl F_SETLK), as LevelDB's and RocksDB's do;
/// nullopt if none does, or there is no file. Takes no lock and changes nothing. A lock of this process is not seen,
/// and is dropped.
Result<std::optional<std::int64_t>> process_that_locks(const std::string& path);

}  // namespace tamis
