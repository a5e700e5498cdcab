#include "mem_env.h"

#include <leveldb/helpers/memenv.h>
#include <leveldb/slice.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace tamis::dropin {

using leveldb::Slice;

/// Open files share it: a removed one stays readable, and one that is written again shows the new bytes.
struct MemoryFile {
  std::mutex mutex;
  std::string bytes;
};

namespace {

using Shared = std::shared_ptr<MemoryFile>;

/// Copies up to `n` bytes from `offset` on.
Slice copy_part(MemoryFile& file, std::uint64_t offset, std::size_t n, char* to) {
  const std::lock_guard lock(file.mutex);
  const std::string_view all = file.bytes;
  const std::string_view part = all.substr(std::min<std::uint64_t>(offset, all.size()), n);
  if (!part.empty()) std::memcpy(to, part.data(), part.size());
  return {to, part.size()};
}

class MemorySequentialFile final : public leveldb::SequentialFile {
 public:
  explicit MemorySequentialFile(Shared file) : file_(std::move(file)) {}
  leveldb::Status Read(std::size_t n, Slice* result, char* scratch) override {
    *result = copy_part(*file_, at_, n, scratch);
    at_ += result->size();
    return leveldb::Status::OK();
  }
  leveldb::Status Skip(std::uint64_t n) override {
    at_ += n;
    return leveldb::Status::OK();
  }

 private:
  const Shared file_;
  std::uint64_t at_ = 0;
};

class MemoryRandomAccessFile final : public leveldb::RandomAccessFile {
 public:
  explicit MemoryRandomAccessFile(Shared file) : file_(std::move(file)) {}
  leveldb::Status Read(std::uint64_t offset, std::size_t n, Slice* result, char* scratch) const override {
    *result = copy_part(*file_, offset, n, scratch);
    const std::lock_guard lock(file_->mutex);
    return offset <= file_->bytes.size() ? leveldb::Status::OK()
                                         : leveldb::Status::IOError("read beyond the end of a file");
  }

 private:
  const Shared file_;
};

class MemoryWritableFile final : public leveldb::WritableFile {
 public:
  explicit MemoryWritableFile(Shared file) : file_(std::move(file)) {}
  leveldb::Status Append(const Slice& data) override {
    const std::lock_guard lock(file_->mutex);
    file_->bytes.append(data.data(), data.size());
    return leveldb::Status::OK();
  }
  leveldb::Status Close() override { return leveldb::Status::OK(); }
  leveldb::Status Flush() override { return leveldb::Status::OK(); }
  leveldb::Status Sync() override { return leveldb::Status::OK(); }

 private:
  const Shared file_;
};

class NoLogger final : public leveldb::Logger {
 public:
  void Logv(const char* /*format*/, std::va_list /*arguments*/) override {}
};

leveldb::Status missing(const std::string& name) { return leveldb::Status::NotFound(name, "no such file in memory"); }

template <typename Made, typename Interface>
leveldb::Status open_as(const Shared& file, const std::string& name, Interface** to) {
  *to = file == nullptr ? nullptr : new Made(file);
  return file == nullptr ? missing(name) : leveldb::Status::OK();
}

}  // namespace

MemoryEnv::~MemoryEnv() {
  std::error_code ignored;  // What is left is in the folder for temporary files.
  if (!temporary_.empty()) std::filesystem::remove_all(temporary_, ignored);
}

Result<std::string> MemoryEnv::store_folder(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (temporary_.empty()) {
    std::error_code error;
    std::string folder = (std::filesystem::temp_directory_path(error) / "tamis-memenv-XXXXXX").string();
    if (error || ::mkdtemp(folder.data()) == nullptr) return Status::io_error(folder + ": cannot make this folder");
    temporary_ = folder;
  }
  return stores_.try_emplace(name, temporary_ + "/" + std::to_string(stores_.size())).first->second;
}

std::shared_ptr<MemoryFile> MemoryEnv::find(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(name);
  return found == files_.end() ? nullptr : found->second;
}

leveldb::Status MemoryEnv::NewSequentialFile(const std::string& name, leveldb::SequentialFile** file) {
  return open_as<MemorySequentialFile>(find(name), name, file);
}
leveldb::Status MemoryEnv::NewRandomAccessFile(const std::string& name, leveldb::RandomAccessFile** file) {
  return open_as<MemoryRandomAccessFile>(find(name), name, file);
}
leveldb::Status MemoryEnv::NewWritableFile(const std::string& name, leveldb::WritableFile** file) {
  const std::lock_guard lock(mutex_);
  Shared& named = files_[name];
  if (named == nullptr) named = std::make_shared<MemoryFile>();
  const std::lock_guard file_lock(named->mutex);
  named->bytes.clear();
  return open_as<MemoryWritableFile>(named, name, file);
}
leveldb::Status MemoryEnv::NewAppendableFile(const std::string& name, leveldb::WritableFile** file) {
  Shared found = find(name);
  return found == nullptr ? NewWritableFile(name, file) : open_as<MemoryWritableFile>(found, name, file);
}

bool MemoryEnv::FileExists(const std::string& name) { return find(name) != nullptr; }

leveldb::Status MemoryEnv::GetChildren(const std::string& folder, std::vector<std::string>* names) {
  names->clear();
  const std::string prefix = folder + "/";
  const std::lock_guard lock(mutex_);
  for (const auto& [name, file] : files_) {
    if (name.starts_with(prefix)) names->push_back(name.substr(prefix.size()));
  }
  return leveldb::Status::OK();
}

leveldb::Status MemoryEnv::RemoveFile(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return files_.erase(name) == 0 ? missing(name) : leveldb::Status::OK();
}

// Folders are only beginnings of names.
leveldb::Status MemoryEnv::CreateDir(const std::string& /*name*/) { return leveldb::Status::OK(); }
leveldb::Status MemoryEnv::RemoveDir(const std::string& /*name*/) { return leveldb::Status::OK(); }

leveldb::Status MemoryEnv::GetFileSize(const std::string& name, std::uint64_t* bytes) {
  const Shared file = find(name);
  if (file == nullptr) return missing(name);
  const std::lock_guard lock(file->mutex);
  *bytes = file->bytes.size();
  return leveldb::Status::OK();
}

leveldb::Status MemoryEnv::RenameFile(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(from);
  if (found == files_.end()) return missing(from);
  const Shared file = found->second;
  files_.erase(found);
  files_[to] = file;
  return leveldb::Status::OK();
}

// No other process sees these files.
leveldb::Status MemoryEnv::LockFile(const std::string& /*name*/, leveldb::FileLock** lock) {
  *lock = new leveldb::FileLock();
  return leveldb::Status::OK();
}
leveldb::Status MemoryEnv::UnlockFile(leveldb::FileLock* lock) {
  delete lock;
  return leveldb::Status::OK();
}

leveldb::Status MemoryEnv::GetTestDirectory(std::string* path) {
  *path = "/test";
  return leveldb::Status::OK();
}
leveldb::Status MemoryEnv::NewLogger(const std::string& /*name*/, leveldb::Logger** logger) {
  *logger = new NoLogger();
  return leveldb::Status::OK();
}

}  // namespace tamis::dropin

namespace leveldb {

Env* NewMemEnv(Env* base_env) { return new tamis::dropin::MemoryEnv(base_env); }

}  // namespace leveldb
