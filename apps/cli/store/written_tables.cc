#include "cli/store/written_tables.h"

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tamis::cli {
namespace {

using namespace std::chrono_literals;

/// Sizes of the tables in a folder. Tables that vanish meanwhile are skipped.
std::map<std::string, std::uint64_t> tables_in(const std::string& directory) {
  std::map<std::string, std::uint64_t> tables;
  std::error_code error;
  std::filesystem::directory_iterator at(directory, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    if (at->path().extension() != ".tms") continue;
    std::error_code gone;
    const std::uintmax_t bytes = at->file_size(gone);
    if (!gone) tables[at->path().filename().string()] = bytes;
  }
  return tables;
}

}  // namespace

WrittenTables::WrittenTables(std::string directory, std::uint64_t expected_bytes, const CommonOptions& options)
    : directory_(std::move(directory)),
      expected_bytes_(expected_bytes),
      progress_("compacting", expected_bytes, options.wants_progress(), show::Progress::Unit::kBytes) {
  if (!progress_.is_shown()) return;
  progress_.call_total_a_guess();
  for (const auto& [name, bytes] : tables_in(directory_)) there_before_.insert(name);
  watcher_ = std::thread([this] { watch(); });
}

WrittenTables::~WrittenTables() {
  if (!watcher_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ends_.notify_all();
  watcher_.join();
}

void WrittenTables::watch() {
  std::unique_lock lock(mutex_);
  while (!ends_.wait_for(lock, 200ms, [this] { return is_over_; })) look();
}

void WrittenTables::look() {
  for (const auto& [name, bytes] : tables_in(directory_)) {
    if (!there_before_.contains(name)) written_[name] = bytes;
  }
  std::uint64_t done = 0;
  for (const auto& [name, bytes] : written_) done += bytes;
  progress_.set(done, expected_bytes_);
}

}  // namespace tamis::cli
