#include "import_rocksdb/rocksdb_source.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <rocksdb/env.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>

namespace tamis::cli {
namespace {

/// RocksDB writes a log into the store's folder unless it is given another one.
class NoLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

void need(const rocksdb::Status& status, const std::string& folder) {
  if (status.ok()) return;
  const ExitStatus exit_status = status.IsCorruption()                                   ? kExitCorruption
                                 : status.IsNotSupported() || status.IsInvalidArgument() ? kExitUsage
                                                                                         : kExitInputOutput;
  throw CommandError(exit_status, fmt::format("{}: RocksDB says: {}", folder, status.ToString()));
}

/// Reading beside a writer would import a store that never was.
void check_unlocked(const std::string& folder) {
  const std::string path = folder + "/LOCK";
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    if (errno == ENOENT) return;
    system_error(path, "cannot open");
  }
  struct flock request {};
  request.l_type = F_WRLCK;  // Would be refused by any other lock.
  request.l_whence = SEEK_SET;
  const bool is_known = ::fcntl(descriptor, F_GETLK, &request) == 0;
  ::close(descriptor);
  if (is_known && request.l_type != F_UNLCK) {
    throw CommandError(kExitBusy, fmt::format("{}: the RocksDB store is open in the process {}; close it there first",
                                              folder, request.l_pid));
  }
}

}  // namespace

RocksDbSource::RocksDbSource(const std::string& folder) : folder_(folder) {
  check_unlocked(folder);
  rocksdb::DBOptions options;
  options.info_log = std::make_shared<NoLog>();
  options.max_open_files = 256;
  need(rocksdb::DB::ListColumnFamilies(options, folder, &names_), folder);
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  families.reserve(names_.size());
  for (const std::string& name : names_) families.emplace_back(name, rocksdb::ColumnFamilyOptions());
  rocksdb::DB* db = nullptr;
  need(rocksdb::DB::OpenForReadOnly(options, folder, families, &families_, &db), folder);
  db_.reset(db);
  estimate();
}

RocksDbSource::~RocksDbSource() {
  entry_.reset();
  for (rocksdb::ColumnFamilyHandle* family : families_) db_->DestroyColumnFamilyHandle(family);
}

void RocksDbSource::estimate() {
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    std::uint64_t number = 0;
    if (db_->GetIntProperty(family, "rocksdb.total-sst-files-size", &number)) bytes_ += number;
    if (db_->GetIntProperty(family, "rocksdb.estimate-num-keys", &number)) estimated_entries_ += number;
  }
}

std::uint64_t RocksDbSource::bytes_read() const {
  const double share =
      static_cast<double>(entries_read_) / static_cast<double>(std::max<std::uint64_t>(estimated_entries_, 1));
  return static_cast<std::uint64_t>(static_cast<double>(bytes_) * std::min(share, 1.0));
}

void RocksDbSource::begin(const std::string& keyspace) {
  const auto at = std::ranges::find(names_, keyspace) - names_.begin();
  rocksdb::ReadOptions all;
  all.fill_cache = false;
  all.readahead_size = std::size_t{2} << 20U;
  entry_.reset(db_->NewIterator(all, families_[static_cast<std::size_t>(at)]));
  is_before_first_ = true;
}

bool RocksDbSource::next() {
  is_before_first_ ? entry_->SeekToFirst() : entry_->Next();
  is_before_first_ = false;
  if (entry_->Valid()) {
    ++entries_read_;
    return true;
  }
  need(entry_->status(), folder_);
  return false;
}

void RocksDbSource::finish() { check_unlocked(folder_); }

}  // namespace tamis::cli
