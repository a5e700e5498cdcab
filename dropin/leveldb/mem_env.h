// leveldb::NewMemEnv.
#pragma once

#include <leveldb/env.h>
#include <tamis/status.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tamis::dropin {

struct MemoryFile;

/// Files in memory, for programs. Threads and clock are the base's.
///
/// A store does not write through an Env. One that is opened with this is in a temporary folder of the machine, which
/// the destructor removes.
///
/// Threads: any number.
class MemoryEnv final : public leveldb::EnvWrapper {
 public:
  explicit MemoryEnv(leveldb::Env* base) : EnvWrapper(base) {}
  ~MemoryEnv() override;

  /// The folder of the store of this name: the same in every call.
  Result<std::string> store_folder(const std::string& name);

  leveldb::Status NewSequentialFile(const std::string& name, leveldb::SequentialFile** file) override;
  leveldb::Status NewRandomAccessFile(const std::string& name, leveldb::RandomAccessFile** file) override;
  leveldb::Status NewWritableFile(const std::string& name, leveldb::WritableFile** file) override;
  leveldb::Status NewAppendableFile(const std::string& name, leveldb::WritableFile** file) override;
  bool FileExists(const std::string& name) override;
  leveldb::Status GetChildren(const std::string& folder, std::vector<std::string>* names) override;
  leveldb::Status RemoveFile(const std::string& name) override;
  leveldb::Status CreateDir(const std::string& name) override;
  leveldb::Status RemoveDir(const std::string& name) override;
  leveldb::Status GetFileSize(const std::string& name, std::uint64_t* bytes) override;
  leveldb::Status RenameFile(const std::string& from, const std::string& to) override;
  leveldb::Status LockFile(const std::string& name, leveldb::FileLock** lock) override;
  leveldb::Status UnlockFile(leveldb::FileLock* lock) override;
  leveldb::Status GetTestDirectory(std::string* path) override;
  leveldb::Status NewLogger(const std::string& name, leveldb::Logger** logger) override;

 private:
  std::shared_ptr<MemoryFile> find(const std::string& name);

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<MemoryFile>> files_;
  std::string temporary_;                      // The folder of the stores' folders; empty: none was needed yet.
  std::map<std::string, std::string> stores_;  // By name: the folder.
};

}  // namespace tamis::dropin
