#include "tree/manifest.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/try.h"
#include "io/file_names.h"
#include "journal/journal_writer.h"
#include "tree/current_format.h"
#include "tree/manifest_format.h"
#include "tree/manifest_reader.h"

namespace tamis {
namespace {

constexpr std::uint64_t kMinRoll = 64 << 10;  // A smaller manifest is not worth rewriting.
constexpr std::uint64_t kRollFactor = 4;

/// Replaces CURRENT durably and atomically. An existing temporary file is not reused: its sync may have failed.
Status replace_current(FileSystem& files, const std::string& directory, const Current& current) {
  const std::string path = current_path(directory);
  const std::string temporary = path + ".tmp";
  TAMIS_TRY(const std::optional<std::uint64_t> leftover, files.file_size(temporary));
  if (leftover) TAMIS_TRY_STATUS(files.remove(temporary));
  TAMIS_TRY(const std::unique_ptr<WritableFile> file, files.open_writable(temporary, OpenMode::kCreate));
  const CurrentBytes encoded = encode_current(current);
  const Bytes bytes = encoded;
  TAMIS_TRY_STATUS(file->write_at(0, std::span(&bytes, 1)));
  TAMIS_TRY_STATUS(file->sync());
  TAMIS_TRY_STATUS(file->close());
  TAMIS_TRY_STATUS(files.rename(temporary, path));
  return files.sync_directory(directory);
}

}  // namespace

/// The implementation: the state, its manifest, and CURRENT.
class Manifest::Inside {
 public:
  Inside(FileSystem& files, std::string directory, RandomSource& random)
      : files_(files), directory_(std::move(directory)), random_(random) {}

  Status read();
  void follow(ManifestState state, const Current& current);
  Status begin(ManifestState state, std::uint64_t number, const std::function<Status()>& before_current);
  Status commit(const ManifestEdit& edit);
  Status renew();
  Status close(const KnownJournalEnd& journal);

  [[nodiscard]] const ManifestState& state() const { return state_; }
  [[nodiscard]] const Current& current() const { return current_; }
  [[nodiscard]] std::uint64_t bytes_written() const { return bytes_written_; }

 private:
  [[nodiscard]] std::string path(std::uint64_t number) const { return manifest_path(directory_, number); }
  Status commit_to_new_manifest(CheckedEdit edit);
  [[nodiscard]] bool needs_new_manifest();
  Status append(const ManifestEdit& edit, std::uint64_t term);
  Status roll(const ManifestState& state);
  Status start_manifest(const ManifestState& state, const std::function<Status()>& before_current = {});
  Status point_current(const Current& next);
  Status finish_manifest(Current& next);
  void remove_old_manifests();

  FileSystem& files_;
  const std::string directory_;
  RandomSource& random_;

  ManifestState state_;
  Current current_;                // As on disk.
  std::uint64_t last_number_ = 0;  // The highest that was tried.
  // The manifest that CURRENT names: open, or closed cleanly and ready to be continued, or neither.
  std::unique_ptr<JournalWriter> writer_;
  JournalHeader header_;
  JournalEnd end_;
  std::uint64_t roll_above_ = kMinRoll;
  std::uint64_t bytes_written_ = 0;
  Status failure_;  // Of the last commit; after close, kClosed.
};

Status Manifest::Inside::read() {
  TAMIS_TRY(current_, read_current(files_, directory_));
  Result<ManifestReader> reader = ManifestReader::open(files_, directory_, current_);
  if (reader.status().code() == StatusCode::kStale) return Status::corruption(std::string(reader.status().message()));
  TAMIS_TRY_STATUS(reader.status());
  TAMIS_TRY_STATUS(reader->read_all(current_));
  TAMIS_TRY(state_, reader->state(current_));
  header_ = reader->header();
  end_ = reader->end();
  // A close that CURRENT does not record may be one whose sync failed: it is only in the page cache.
  if (current_.manifest_durable_bytes < end_.offset) end_.is_closed = false;
  last_number_ = current_.manifest_number;
  return {};
}

void Manifest::Inside::follow(ManifestState state, const Current& current) {
  state_ = std::move(state);
  current_ = current;
  failure_ = Status::not_supported("the manifest of a store that another process writes");
}

/// A store's first manifest, or one that replaces all earlier ones.
Status Manifest::Inside::begin(ManifestState state, std::uint64_t number,
                               const std::function<Status()>& before_current) {
  TAMIS_TRY_STATUS(check_state(state));
  current_.store_id = state.identity.store_id;
  last_number_ = number - 1;
  TAMIS_TRY_STATUS(start_manifest(state, before_current));
  state_ = std::move(state);
  return {};
}

Status Manifest::Inside::commit(const ManifestEdit& edit) {
  TAMIS_TRY_STATUS(failure_);
  TAMIS_TRY(CheckedEdit checked, CheckedEdit::make(state_, edit));
  if (!header_.features.includes(checked.features()) || needs_new_manifest()) {
    failure_ = commit_to_new_manifest(std::move(checked));
  } else {
    failure_ = append(edit, edit.term.value_or(state_.term));
    if (failure_.ok()) std::move(checked).apply_to(state_);
  }
  return failure_;
}

/// Writes the whole state, and may therefore also copy it.
Status Manifest::Inside::commit_to_new_manifest(CheckedEdit edit) {
  ManifestState next = state_;
  std::move(edit).apply_to(next);
  TAMIS_TRY_STATUS(roll(next));
  state_ = std::move(next);
  return {};
}

bool Manifest::Inside::needs_new_manifest() {
  if (writer_ == nullptr && !end_.is_closed) return true;
  const std::uint64_t bytes = writer_ == nullptr ? end_.offset : writer_->end_offset();
  if (bytes <= roll_above_) return false;
  // Only now is it worth knowing how much of it is live.
  const std::string whole = encode_manifest_record({state_.identity, whole_edit(state_)});
  const std::uint64_t live = kJournalHeaderBytes + kRecordHeaderBytes + whole.size();
  roll_above_ = std::max(kMinRoll, kRollFactor * live);
  return bytes > roll_above_;
}

Status Manifest::Inside::append(const ManifestEdit& edit, std::uint64_t term) {
  if (writer_ == nullptr) {
    TAMIS_TRY(writer_, JournalWriter::reopen(files_, path(header_.number), header_, end_));
    bytes_written_ += kRecordHeaderBytes;
  }
  const std::string record = encode_manifest_record({{}, edit});
  TAMIS_TRY_STATUS(writer_->append(as_bytes(record), 1));
  bytes_written_ += kRecordHeaderBytes + record.size();
  TAMIS_TRY_STATUS(writer_->sync());
  Current next = current_;
  next.manifest_durable_bytes = writer_->durable_offset();
  next.term = term;
  return point_current(next);
}

Status Manifest::Inside::roll(const ManifestState& state) {
  TAMIS_TRY_STATUS(start_manifest(state));
  remove_old_manifests();
  return {};
}

/// Writes a new manifest with the whole state; CURRENT names it once it is durable, and the old one stays until then.
Status Manifest::Inside::start_manifest(const ManifestState& state, const std::function<Status()>& before_current) {
  JournalHeader header;
  header.kind = JournalKind::kManifest;
  header.store_id = state.identity.store_id;
  header.salt = random_.next();
  header.first_sequence = 1;
  header.term = state.term;
  header.features = state.features;
  for (bool is_taken = true; is_taken;) {
    header.number = ++last_number_;
    TAMIS_TRY(const std::optional<std::uint64_t> size, files_.file_size(path(header.number)));
    is_taken = size.has_value();
  }
  TAMIS_TRY(std::unique_ptr<JournalWriter> writer, JournalWriter::create(files_, {path(header.number), header, 0}));
  const std::string record = encode_manifest_record({state.identity, whole_edit(state)});
  TAMIS_TRY_STATUS(writer->append(as_bytes(record), 1));
  TAMIS_TRY_STATUS(writer->sync());
  bytes_written_ += writer->end_offset();
  if (before_current) TAMIS_TRY_STATUS(before_current());
  Current next = current_;
  next.manifest_number = header.number;
  next.manifest_salt = header.salt;
  next.manifest_durable_bytes = writer->durable_offset();
  next.term = state.term;
  next.features = state.features;
  TAMIS_TRY_STATUS(point_current(next));
  roll_above_ = std::max(kMinRoll, kRollFactor * writer->end_offset());
  writer_ = std::move(writer);
  header_ = header;
  return {};
}

Status Manifest::Inside::point_current(const Current& next) {
  TAMIS_TRY_STATUS(replace_current(files_, directory_, next));
  bytes_written_ += kCurrentBytes;
  current_ = next;
  return {};
}

/// What cannot be removed now is removed after the next roll, or stays: it is never read.
void Manifest::Inside::remove_old_manifests() {
  const Result<std::vector<DirectoryEntry>> entries = files_.list(directory_);
  if (!entries.ok()) return;
  for (const DirectoryEntry& entry : *entries) {
    const std::optional<FileName> name = parse_file_name(entry.name);
    if (!name || name->kind != FileKind::kManifest || name->number >= current_.manifest_number) continue;
    (void)files_.remove(path(name->number)).ok();
  }
}

Status Manifest::Inside::renew() {
  if (failure_.code() == StatusCode::kClosed) return failure_;
  writer_.reset();
  end_ = {};  // The contents of the old manifest are unknown now.
  failure_ = roll(state_);
  return failure_;
}

Status Manifest::Inside::close(const KnownJournalEnd& journal) {
  TAMIS_TRY_STATUS(failure_);
  Current next = current_;
  if (journal.number != 0) next.journal_end = journal;
  Status closed = finish_manifest(next);
  if (closed.ok() && next != current_) closed = point_current(next);
  failure_ = closed.ok() ? Status::closed("the manifest was closed") : closed;
  return closed;
}

/// Does nothing unless something was written.
Status Manifest::Inside::finish_manifest(Current& next) {
  if (writer_ == nullptr) return {};
  TAMIS_TRY_STATUS(writer_->close());
  bytes_written_ += kRecordHeaderBytes;
  next.manifest_durable_bytes = writer_->durable_offset();
  writer_.reset();
  return {};
}

TableIdentity draw_identity(RandomSource& random) {
  TableIdentity identity;
  for (std::size_t i = 0; i < 2; ++i) {
    store_le(identity.store_id.data() + 8 * i, random.next());
    store_le(identity.hash_key.data() + 8 * i, random.next());
  }
  return identity;
}

Result<std::unique_ptr<Manifest>> Manifest::create(FileSystem& files, const std::string& directory,
                                                   const TableIdentity& identity, RandomSource& random) {
  return create_with(files, directory, ManifestState{.identity = identity}, 1, random);
}

Result<std::unique_ptr<Manifest>> Manifest::create_with(FileSystem& files, const std::string& directory,
                                                        const ManifestState& state, std::uint64_t manifest_number,
                                                        RandomSource& random,
                                                        const std::function<Status()>& before_current) {
  TAMIS_CHECK(manifest_number > 0);
  auto inside = std::make_unique<Inside>(files, directory, random);
  TAMIS_TRY_STATUS(inside->begin(state, manifest_number, before_current));
  return std::unique_ptr<Manifest>(new Manifest(std::move(inside)));
}

Result<std::unique_ptr<Manifest>> Manifest::open(FileSystem& files, const std::string& directory,
                                                 RandomSource& random) {
  auto inside = std::make_unique<Inside>(files, directory, random);
  TAMIS_TRY_STATUS(inside->read());
  return std::unique_ptr<Manifest>(new Manifest(std::move(inside)));
}

std::unique_ptr<Manifest> Manifest::follow(FileSystem& files, const std::string& directory, ManifestState state,
                                           const Current& current, RandomSource& random) {
  auto inside = std::make_unique<Inside>(files, directory, random);
  inside->follow(std::move(state), current);
  return std::unique_ptr<Manifest>(new Manifest(std::move(inside)));
}

Manifest::Manifest(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Manifest::~Manifest() = default;

const ManifestState& Manifest::state() const { return inside_->state(); }
std::uint64_t Manifest::number() const { return inside_->current().manifest_number; }
const KnownJournalEnd& Manifest::known_journal_end() const { return inside_->current().journal_end; }
std::uint64_t Manifest::bytes_written() const { return inside_->bytes_written(); }

Status Manifest::commit(const ManifestEdit& edit) { return inside_->commit(edit); }
Status Manifest::renew() { return inside_->renew(); }
Status Manifest::close(const KnownJournalEnd& journal) { return inside_->close(journal); }

}  // namespace tamis
