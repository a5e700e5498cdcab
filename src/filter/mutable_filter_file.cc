#include "filter/mutable_filter_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/try.h"
#include "filter/filter_format.h"
#include "filter/filter_log_format.h"
#include "filter/logged_filter.h"
#include "filter/open_filter.h"
#include "io/append_file.h"
#include "io/file_claim.h"
#include "io/path.h"
#include "io/posix_file_system.h"

namespace tamis {
namespace {

/// Writes a filter to a temporary file and renames it: at every moment the old or the new file is there.
Status replace_file(FileSystem& files, const std::string& path, Bytes bytes) {
  const std::string temporary = path + ".tmp";
  TAMIS_TRY(const std::unique_ptr<WritableFile> file, files.open_writable(temporary, OpenMode::kReplace));
  TAMIS_TRY_STATUS(file->write_at(0, std::span(&bytes, 1)));
  TAMIS_TRY_STATUS(file->sync());
  TAMIS_TRY_STATUS(file->close());
  TAMIS_TRY_STATUS(files.rename(temporary, path));
  return files.sync_directory(parent_directory(path));
}

/// Whether reading the log again costs more than a part of reading the filter.
bool is_long(std::uint64_t log_bytes, std::uint64_t filter_bytes) {
  constexpr std::uint64_t kShort = 4096;
  return log_bytes > std::max(kShort, filter_bytes / 16);
}

}  // namespace

struct MutableFilterFile::State {
  State(FileSystem& from, std::string at) : files(from), path(std::move(at)) {}

  /// Replaces the file by one with an empty log, and opens that.
  Status begin_log() {
    const Filter frozen = filter.freeze();
    std::vector<std::byte> container(frozen.bytes().begin(), frozen.bytes().end());
    announce_filter_log(container);
    TAMIS_TRY_STATUS(replace_file(files, path, container));
    seed = filter_checksum(container);
    log_begin = container.size();
    TAMIS_TRY(std::unique_ptr<WritableFile> file, files.open_writable(path, OpenMode::kExisting));
    log = std::make_unique<AppendFile>(std::move(file), log_begin);
    return {};
  }

  /// Goes on behind the last record. It may be in the kernel's memory only, left by a process that was killed.
  Status continue_log(std::uint64_t end) {
    TAMIS_TRY(std::unique_ptr<WritableFile> file, files.open_writable(path, OpenMode::kExisting));
    TAMIS_TRY_STATUS(file->sync());
    log = std::make_unique<AppendFile>(std::move(file), end);
    return {};
  }

  Status append(FilterChange change, std::span<const std::uint64_t> hashes) {
    for (; !hashes.empty(); hashes = hashes.subspan(std::min(hashes.size(), FilterLogRecord::kMaxHashes))) {
      const auto some = hashes.first(std::min(hashes.size(), FilterLogRecord::kMaxHashes));
      std::string bytes;
      append_filter_log_record(bytes, {change, log->durable_end(), {some.begin(), some.end()}}, seed, log->end());
      TAMIS_TRY_STATUS(log->append(as_bytes(bytes)));
    }
    return {};
  }

  FileSystem& files;
  std::string path;
  FileClaim claim;
  MutableFilter filter;
  std::uint64_t seed = 0;
  std::uint64_t log_begin = 0;
  std::unique_ptr<AppendFile> log;
};

MutableFilterFile::MutableFilterFile() noexcept = default;
MutableFilterFile::MutableFilterFile(MutableFilterFile&&) noexcept = default;
MutableFilterFile& MutableFilterFile::operator=(MutableFilterFile&&) noexcept = default;
MutableFilterFile::~MutableFilterFile() = default;

Result<MutableFilterFile> open_mutable_filter_file(FileSystem& files, const std::string& path) {
  TAMIS_TRY(const std::string bytes, read_whole_file(files, path));
  MutableFilterFile opened;
  opened.state_ = std::make_unique<MutableFilterFile::State>(files, path);
  MutableFilterFile::State& state = *opened.state_;
  if (!has_filter_log(as_bytes(bytes))) {
    TAMIS_TRY(state.filter, MutableFilter::from_bytes(as_bytes(bytes), path));
    TAMIS_TRY_STATUS(state.begin_log());
    return opened;
  }
  TAMIS_TRY(LoggedFilter logged, open_logged_filter(as_bytes(bytes), path));
  state.filter = std::move(logged.filter);
  // Behind a torn record there may be later ones, which must never be taken for those that follow.
  if (logged.is_torn || is_long(logged.log_end - logged.log_begin, logged.log_begin)) {
    TAMIS_TRY_STATUS(state.begin_log());
    return opened;
  }
  state.seed = logged.seed;
  state.log_begin = logged.log_begin;
  TAMIS_TRY_STATUS(state.continue_log(logged.log_end));
  return opened;
}

Result<MutableFilterFile> MutableFilterFile::open(const std::string& path) {
  TAMIS_TRY(FileClaim claim, FileClaim::take(path));
  TAMIS_TRY(MutableFilterFile opened, open_mutable_filter_file(posix_file_system(), path));
  TAMIS_TRY_STATUS(claim.follow(path));
  opened.state_->claim = std::move(claim);
  return opened;
}

Result<MutableFilterFile> MutableFilterFile::create(const std::string& path, const FilterOptions& options) {
  TAMIS_TRY(const MutableFilter filter, MutableFilter::create(options));
  TAMIS_TRY(const std::optional<std::uint64_t> there, posix_file_system().file_size(path));
  if (there) return Status::invalid_argument(path + ": there is a file of this name already");
  TAMIS_TRY_STATUS(filter.save(path));
  return open(path);
}

Status MutableFilterFile::add(std::span<const std::string_view> keys) {
  if (state_ == nullptr) return no_filter();
  TAMIS_TRY_STATUS(state_->log->status());
  std::vector<std::uint64_t> hashes;
  Status added;
  for (const std::string_view key : keys) {
    const std::uint64_t hash = state_->filter.hash(key);
    added = state_->filter.add_hash(hash);
    if (!added.ok()) break;
    hashes.push_back(hash);
  }
  TAMIS_TRY_STATUS(state_->append(FilterChange::kAdd, hashes));
  return added;
}

Result<bool> MutableFilterFile::remove(std::string_view key) {
  if (state_ == nullptr) return no_filter();
  const std::uint64_t hash = state_->filter.hash(key);
  const std::span<const FilterKindInfo> kinds = filter_kinds();
  const auto kind = std::ranges::find(kinds, state_->filter.info().kind, &FilterKindInfo::name);
  // Only what the log has is removed: otherwise a key that seems absent would be back in the next process.
  if (kind->removes && state_->filter.may_contain_hash(hash)) {
    TAMIS_TRY_STATUS(state_->append(FilterChange::kRemove, std::span(&hash, 1)));
  }
  return state_->filter.remove_hash(hash);
}

Status MutableFilterFile::sync() { return state_ == nullptr ? no_filter() : state_->log->sync(); }

Status MutableFilterFile::close() {
  if (state_ == nullptr) return no_filter();
  const std::unique_ptr<State> state = std::exchange(state_, nullptr);
  TAMIS_TRY_STATUS(state->log->sync());
  const std::uint64_t log_bytes = state->log->end() - state->log_begin;
  TAMIS_TRY_STATUS(state->log->close());
  if (log_bytes > 0 && !is_long(log_bytes, state->log_begin)) return {};
  return replace_file(state->files, state->path, state->filter.freeze().bytes());
}

const MutableFilter& MutableFilterFile::filter() const {
  static const MutableFilter none;
  return state_ == nullptr ? none : state_->filter;
}

}  // namespace tamis
