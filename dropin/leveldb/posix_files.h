// Files of the machine, as leveldb::Env hands them out.
#pragma once

#include <leveldb/env.h>
#include <leveldb/status.h>

#include <string>

namespace tamis::dropin {

/// The error of a system call: NotFound if a file or folder is missing, IOError otherwise.
[[nodiscard]] leveldb::Status errno_status(const std::string& name, int error);

leveldb::Status open_sequential(const std::string& name, leveldb::SequentialFile** file);
leveldb::Status open_random_access(const std::string& name, leveldb::RandomAccessFile** file);
/// Writes from the beginning of an empty file, or from the end of what is there.
leveldb::Status open_writable(const std::string& name, bool appends, leveldb::WritableFile** file);
/// Lines with time and thread.
leveldb::Status open_logger(const std::string& name, leveldb::Logger** logger);

/// An error if this or another process holds the lock.
leveldb::Status lock_file(const std::string& name, leveldb::FileLock** lock);
leveldb::Status unlock_file(leveldb::FileLock* lock);

}  // namespace tamis::dropin
