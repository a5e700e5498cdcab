#include "leveldb_files/folder_entries.h"

#include <utility>
#include <vector>

#include "base/try.h"
#include "entry/merging_iterator.h"
#include "leveldb_files/table_run.h"

namespace tamis::leveldb {

Result<std::unique_ptr<FolderEntries>> FolderEntries::open(FileSystem& files, std::string folder) {
  TAMIS_TRY(LiveFiles live, find_live_files(files, folder));
  auto entries = std::make_unique<FolderEntries>(files, std::move(folder), std::move(live));
  TAMIS_TRY_STATUS(entries->read_logs());
  return entries;
}

bool FolderEntries::next() {
  if (merged_ == nullptr) {
    merged_ = merge();
    merged_->seek_to_first();
  } else if (merged_->valid()) {
    merged_->next();
  }
  return merged_->valid();
}

/// The newest source first: the order in which LevelDB looks. Sequences decide wherever they differ.
std::unique_ptr<VisibleIterator> FolderEntries::merge() {
  std::vector<std::unique_ptr<EntryIterator>> runs;
  runs.push_back(log_.iterate());
  for (const TableRef& table : live_.levels[0]) {
    runs.push_back(std::make_unique<TableRun>(files_, std::vector{table}, table_bytes_read_));
  }
  for (std::size_t level = 1; level < kLevels; ++level) {
    if (live_.levels[level].empty()) continue;
    runs.push_back(std::make_unique<TableRun>(files_, live_.levels[level], table_bytes_read_));
  }
  return std::make_unique<VisibleIterator>(make_merging_iterator(std::move(runs)), Moment{}, KeyRange{});
}

Status FolderEntries::check_unchanged() const {
  const Result<LiveFiles> now = find_live_files(files_, folder_);
  if (now.ok() && now->manifest == live_.manifest && now->manifest_bytes == live_.manifest_bytes) return {};
  return Status::busy(folder_ + ": the LevelDB store was changed while it was read; close it and begin again");
}

std::uint64_t FolderEntries::bytes() const {
  std::uint64_t bytes = log_.file_bytes();
  for (const std::vector<TableRef>& level : live_.levels) {
    for (const TableRef& table : level) bytes += table.size;
  }
  return bytes;
}

}  // namespace tamis::leveldb
