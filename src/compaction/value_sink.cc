#include "compaction/value_sink.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/try.h"
#include "entry/expiry.h"
#include "io/file_names.h"
#include "table/value_pointers.h"

namespace tamis {
namespace {

std::string_view value_of(const Entry& entry) {
  return expires(entry.kind) ? load_expiring(entry.value).value : entry.value;
}

EntryKind apart(EntryKind kind) { return expires(kind) ? EntryKind::kExpiringPutApart : EntryKind::kPutApart; }

}  // namespace

Status note_begun(FileSystem& files, const std::string& path, std::vector<std::string>& begun) {
  TAMIS_TRY(const std::optional<std::uint64_t> before, files.file_size(path));
  if (before) return Status::corruption(fmt::format("{}: there is such a file already", path));
  begun.push_back(path);
  return {};
}

bool ValueSink::goes_apart(const Entry& entry) const {
  const bool is_put = entry.kind == EntryKind::kPut || entry.kind == EntryKind::kExpiringPut;
  if (spec_.values.bytes_apart == 0 || !is_put) return false;
  return value_of(entry).size() >= spec_.values.bytes_apart;
}

Result<Entry> ValueSink::place(const Entry& entry) {
  if (is_apart(entry.kind)) return spec_.values.collected.empty() ? entry : copy(entry);
  return goes_apart(entry) ? write(entry, value_of(entry)) : entry;
}

/// A value that cannot be verified is not copied: its reader gets the error, and the file stays.
Result<Entry> ValueSink::copy(const Entry& entry) {
  const ValuePointer pointer = pointer_of(entry);
  if (!std::ranges::binary_search(spec_.values.collected, pointer.file)) return entry;
  const Status read = spec_.values.read(pointer, entry.key, copied_);
  if (read.code() == StatusCode::kCorruption) return entry;
  TAMIS_TRY_STATUS(read);
  return write(entry, copied_);
}

Result<Entry> ValueSink::write(const Entry& entry, std::string_view value) {
  if (builder_ == nullptr) TAMIS_TRY_STATUS(begin_file());
  TAMIS_TRY(const ValuePointer pointer, builder_->add(entry.key, value));
  if (builder_->bytes() >= spec_.values.file_bytes) TAMIS_TRY_STATUS(finish_file());
  stored_.clear();
  if (expires(entry.kind)) stored_ = entry.value.substr(0, kDueBytes);
  stored_ += encode_value_pointer(pointer);
  Entry written = entry;
  written.kind = apart(entry.kind);
  written.value = stored_;
  return written;
}

Status ValueSink::begin_file() {
  TAMIS_TRY(const std::uint64_t number, spec_.new_number());
  ValueFileSpec file{.path = value_file_path(spec_.directory, number),
                     .number = number,
                     .store_id = spec_.identity.store_id,
                     .codec = spec_.codec,
                     .created_unix_seconds = spec_.now_unix_seconds};
  TAMIS_TRY_STATUS(note_begun(*spec_.files, file.path, begun_));
  TAMIS_TRY(builder_, ValueFileBuilder::create(*spec_.files, std::move(file)));
  return {};
}

Status ValueSink::finish_file() {
  TAMIS_TRY(const ValueFileFacts facts, builder_->finish());
  finished_.push_back(facts);
  builder_.reset();
  return {};
}

Status ValueSink::finish(RewriteResult& result) {
  if (builder_ != nullptr) TAMIS_TRY_STATUS(finish_file());
  for (const ValueFileFacts& facts : finished_) result.bytes_written += facts.file_bytes;
  result.values = finished_;
  return {};
}

}  // namespace tamis
