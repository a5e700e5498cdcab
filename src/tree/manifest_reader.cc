#include "tree/manifest_reader.h"

#include <fmt/core.h>

#include "base/bytes.h"
#include "base/try.h"
#include "io/file_names.h"
#include "tree/manifest_format.h"

namespace tamis {
namespace {

Status check_header(const JournalHeader& header, const Current& current, const std::string& path) {
  const bool is_the_one = header.kind == JournalKind::kManifest && header.store_id == current.store_id &&
                          header.number == current.manifest_number && header.salt == current.manifest_salt;
  if (is_the_one) return {};
  return Status::corruption(fmt::format("{}: at offset 0: not the manifest that CURRENT names", path));
}

}  // namespace

Result<Current> read_current(FileSystem& files, const std::string& directory) {
  const std::string path = current_path(directory);
  TAMIS_TRY(const std::string raw, read_whole_file(files, path));
  return decode_current(as_bytes(raw), path);
}

Result<ManifestReader> ManifestReader::open(FileSystem& files, const std::string& directory, const Current& current) {
  const std::string path = manifest_path(directory, current.manifest_number);
  TAMIS_TRY(const std::optional<std::uint64_t> size, files.file_size(path));
  if (!size) return Status::stale(fmt::format("{}: missing, though {} names it", path, current_path(directory)));
  TAMIS_TRY(JournalReader reader, JournalReader::open(files, path, current.manifest_durable_bytes));
  TAMIS_TRY_STATUS(check_header(reader.header(), current, path));
  return ManifestReader(std::move(reader));
}

Status ManifestReader::read_all(const Current& current) {
  for (;;) {
    TAMIS_TRY(const std::optional<JournalRecord> record, reader_.next());
    if (!record) return {};
    TAMIS_TRY_STATUS(apply(*record, current));
  }
}

Status ManifestReader::read_durable(const Current& current) {
  while (reader_.offset() < current.manifest_durable_bytes) {
    TAMIS_TRY(const std::optional<JournalRecord> record, reader_.next_so_far());
    if (record) {
      TAMIS_TRY_STATUS(apply(*record, current));
    } else if (reader_.offset() < current.manifest_durable_bytes) {
      return Status::corruption(
          fmt::format("{}: at offset {}: damaged: no valid record stands here, yet it was durable up to {}",
                      reader_.path(), reader_.offset(), current.manifest_durable_bytes));
    }
  }
  return {};
}

/// The first record has the store's identity.
Status ManifestReader::apply(const JournalRecord& raw, const Current& current) {
  const std::string name = fmt::format("{}: record at offset {}", reader_.path(), raw.offset);
  TAMIS_TRY(const ManifestRecord record, decode_manifest_record(raw.payload, name));
  const bool is_first = !replay_.has_value();
  if (record.identity.has_value() != is_first) {
    return Status::corruption(
        fmt::format("{}: the store's identity {}", name, is_first ? "is missing" : "stands there again"));
  }
  if (is_first) replay_.emplace(*record.identity);
  if (replay_->identity().store_id != current.store_id) {
    return Status::corruption(fmt::format("{}: the store's id is not the one in CURRENT", name));
  }
  const Status applied = replay_->apply(record.edit);
  if (!applied.ok()) return Status::corruption(fmt::format("{}: {}", name, applied.message()));
  return {};
}

/// The records that brought the features are in this manifest, or in one before it.
Result<ManifestState> ManifestReader::state(const Current& current) const {
  const std::string& path = reader_.path();
  if (!replay_) return Status::corruption(fmt::format("{}: at offset 4096: the manifest holds nothing", path));
  Result<ManifestState> state = replay_->finish();
  if (!state.ok()) {
    return Status::corruption(
        fmt::format("{}: at offset {}: after all records: {}", path, reader_.offset(), state.status().message()));
  }
  if (state->term < current.term) {
    return Status::corruption(fmt::format("{}: term {}, though CURRENT says {}", path, state->term, current.term));
  }
  if (!header().features.includes(state->features)) {
    return Status::corruption(fmt::format("{}: at offset 16: the header lacks a feature that its records have", path));
  }
  state->features = header().features | current.features;
  return state;
}

}  // namespace tamis
