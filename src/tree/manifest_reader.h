// Reads CURRENT and the manifest that it names.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "io/file_system.h"
#include "journal/journal_reader.h"
#include "tamis/status.h"
#include "tree/current_format.h"
#include "tree/manifest_replay.h"
#include "tree/manifest_state.h"

namespace tamis {

Result<Current> read_current(FileSystem& files, const std::string& directory);

/// One manifest, read to its end, or step by step while another process writes it.
///
/// Threads: one at a time.
class ManifestReader {
 public:
  /// kStale if it does not exist.
  static Result<ManifestReader> open(FileSystem& files, const std::string& directory, const Current& current);

  /// Whether `current` names this manifest. It may have become longer.
  [[nodiscard]] bool is_of(const Current& current) const {
    return reader_.header().number == current.manifest_number && reader_.header().salt == current.manifest_salt;
  }
  /// Reads everything, with the last edit that may not be durable; nothing else is read afterwards.
  Status read_all(const Current& current);
  /// Reads up to what is durable by `current`, and nothing beyond: its writer may still take that back.
  Status read_durable(const Current& current);
  /// After either of them.
  [[nodiscard]] Result<ManifestState> state(const Current& current) const;

  [[nodiscard]] const JournalHeader& header() const { return reader_.header(); }
  /// After read_all.
  [[nodiscard]] const JournalEnd& end() const { return reader_.end(); }

 private:
  explicit ManifestReader(JournalReader reader) : reader_(std::move(reader)) {}

  Status apply(const JournalRecord& record, const Current& current);

  JournalReader reader_;
  std::optional<ManifestReplay> replay_;  // From the first record on.
};

}  // namespace tamis
