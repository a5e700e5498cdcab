#include "tamis/leveldb_folder.h"

#include <fmt/core.h>

#include <utility>

#include "base/try.h"
#include "io/path.h"
#include "io/posix_file_system.h"
#include "leveldb_files/folder_entries.h"

namespace tamis {

class LevelDbFolderState {
 public:
  LevelDbFolderState(std::string folder, std::unique_ptr<leveldb::FolderEntries> entries)
      : folder_(std::move(folder)), entries_(std::move(entries)) {}

  static Status check_unlocked(const std::string& folder) {
    TAMIS_TRY(const std::optional<std::int64_t> holder, process_that_locks(join_path(folder, "LOCK")));
    if (!holder) return {};
    return Status::busy(
        fmt::format("{}: the LevelDB store is open in the process {}; close it there first", folder, *holder));
  }

  bool next() {
    is_on_entry_ = entries_->next();
    if (!is_on_entry_) status_ = entries_->at().status();
    return is_on_entry_;
  }
  [[nodiscard]] Status finish() const {
    TAMIS_TRY_STATUS(check_unlocked(folder_));
    return entries_->check_unchanged();
  }

  [[nodiscard]] const VisibleIterator* entry() const { return is_on_entry_ ? &entries_->at() : nullptr; }
  [[nodiscard]] const leveldb::FolderEntries& entries() const { return *entries_; }
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  const std::string folder_;
  const std::unique_ptr<leveldb::FolderEntries> entries_;
  bool is_on_entry_ = false;
  Status status_;
};

LevelDbFolder::LevelDbFolder() noexcept = default;
LevelDbFolder::LevelDbFolder(std::unique_ptr<LevelDbFolderState> state) : state_(std::move(state)) {}
LevelDbFolder::LevelDbFolder(LevelDbFolder&&) noexcept = default;
LevelDbFolder& LevelDbFolder::operator=(LevelDbFolder&&) noexcept = default;
LevelDbFolder::~LevelDbFolder() = default;

Result<LevelDbFolder> LevelDbFolder::open(const std::string& path) {
  TAMIS_TRY(std::string folder, plain_path(path));
  TAMIS_TRY_STATUS(LevelDbFolderState::check_unlocked(folder));
  TAMIS_TRY(auto entries, leveldb::FolderEntries::open(posix_file_system(), folder));
  return LevelDbFolder(std::make_unique<LevelDbFolderState>(std::move(folder), std::move(entries)));
}

bool LevelDbFolder::next() { return state_ != nullptr && state_->next(); }

std::string_view LevelDbFolder::key() const {
  return state_ != nullptr && state_->entry() != nullptr ? state_->entry()->key() : std::string_view();
}

std::string_view LevelDbFolder::value() const {
  return state_ != nullptr && state_->entry() != nullptr ? state_->entry()->value() : std::string_view();
}

const Status& LevelDbFolder::status() const {
  static const Status closed = Status::closed("this LevelDbFolder belongs to no folder");
  return state_ != nullptr ? state_->status() : closed;
}

Status LevelDbFolder::finish() const { return state_ != nullptr ? state_->finish() : status(); }

std::uint64_t LevelDbFolder::tables() const {
  std::uint64_t tables = 0;
  if (state_ == nullptr) return tables;
  for (const auto& level : state_->entries().live().levels) tables += level.size();
  return tables;
}

std::uint64_t LevelDbFolder::logs() const { return state_ != nullptr ? state_->entries().live().logs.size() : 0; }
std::uint64_t LevelDbFolder::bytes() const { return state_ != nullptr ? state_->entries().bytes() : 0; }
std::uint64_t LevelDbFolder::bytes_read() const { return state_ != nullptr ? state_->entries().bytes_read() : 0; }

const std::vector<std::string>& LevelDbFolder::notes() const {
  static const std::vector<std::string> none;
  return state_ != nullptr ? state_->entries().live().notes : none;
}

}  // namespace tamis
