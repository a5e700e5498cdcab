// leveldb::Env: what it does itself, and the files that it names.
#include <leveldb/env.h>
#include <leveldb/slice.h>

#include <array>
#include <memory>

namespace leveldb {
namespace {

constexpr std::size_t kReadBytes = 8192;

}  // namespace

Env::Env() = default;
Env::~Env() = default;
SequentialFile::~SequentialFile() = default;
RandomAccessFile::~RandomAccessFile() = default;
WritableFile::~WritableFile() = default;
Logger::~Logger() = default;
FileLock::~FileLock() = default;
EnvWrapper::~EnvWrapper() = default;

Status Env::NewAppendableFile(const std::string& fname, WritableFile** /*result*/) {
  return Status::NotSupported("this Env appends to no file", fname);
}

// Each of a pair calls the other: an Env overrides one of them.
Status Env::RemoveFile(const std::string& fname) { return DeleteFile(fname); }
Status Env::DeleteFile(const std::string& fname) { return RemoveFile(fname); }
Status Env::RemoveDir(const std::string& dirname) { return DeleteDir(dirname); }
Status Env::DeleteDir(const std::string& dirname) { return RemoveDir(dirname); }

Status WriteStringToFile(Env* env, const Slice& data, const std::string& fname) {
  WritableFile* opened = nullptr;
  Status status = env->NewWritableFile(fname, &opened);
  if (!status.ok()) return status;
  const std::unique_ptr<WritableFile> file(opened);
  status = file->Append(data);
  if (status.ok()) status = file->Close();
  if (!status.ok()) (void)env->RemoveFile(fname);
  return status;
}

Status ReadFileToString(Env* env, const std::string& fname, std::string* data) {
  data->clear();
  SequentialFile* opened = nullptr;
  Status status = env->NewSequentialFile(fname, &opened);
  if (!status.ok()) return status;
  const std::unique_ptr<SequentialFile> file(opened);
  std::array<char, kReadBytes> buffer;
  Slice part;
  do {
    status = file->Read(buffer.size(), &part, buffer.data());
    if (!status.ok()) return status;
    data->append(part.data(), part.size());
  } while (!part.empty());
  return status;
}

}  // namespace leveldb
