// Reads values that are apart from their tables.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "io/file_handles.h"
#include "table/table.h"
#include "table/value_file_format.h"
#include "table/value_files.h"
#include "tamis/status.h"

namespace tamis {

class ValueFile;

/// One of several values that are read together.
struct ValueRead {
  const ValueFile* file = nullptr;
  ValuePointer pointer = {};
  std::string_view key = {};
  std::string* to = nullptr;
  Status status = {};  ///< Set.
};

/// A value file that versions own: it is there while one of them exists. The constructor touches no file.
///
/// Invariants: every value that it gives out has the checksum of its pointer (P3).
///
/// Threads: any.
class ValueFile {
 public:
  ValueFile(const ValueFileFacts& facts, const TableContext& context) : facts_(facts), context_(context) {}
  ValueFile(const ValueFile&) = delete;
  ValueFile& operator=(const ValueFile&) = delete;

  [[nodiscard]] const ValueFileFacts& facts() const { return facts_; }
  [[nodiscard]] std::string path() const;

  /// The value of this key: one read. kCorruption, naming file and offset, if it is missing or damaged; kOutOfSpace if
  /// there is no memory for it. Not inside an EpochGuard.
  Status read(const ValuePointer& pointer, std::string_view key, std::string& to) const;
  /// The same for a rewrite, which leaves alone from now on a file with a value that is damaged.
  Status copy_out(const ValuePointer& pointer, std::string_view key, std::string& to);
  [[nodiscard]] bool is_damaged() const { return is_damaged_.load(std::memory_order_relaxed); }
  /// The same for several values, of any files of one store, with their reads sent together.
  static void read_many(std::span<ValueRead> reads);
  /// Keeps the file open from now on, as Table::hold_file.
  Status hold_file();
  /// The held file, or one that is opened now.
  [[nodiscard]] Result<std::shared_ptr<const ReadableFile>> open_file() const;
  /// Checks the header and the length of the file.
  [[nodiscard]] Status verify_header() const;

 private:
  [[nodiscard]] Result<std::shared_ptr<const ReadableFile>> open(const ValuePointer& pointer) const;
  Status finish(const ValuePointer& pointer, std::string_view key, const Result<std::size_t>& there,
                std::string& to) const;
  [[nodiscard]] Status damage(const ValuePointer& pointer, std::string_view why) const;

  const ValueFileFacts facts_;
  const TableContext& context_;
  std::atomic<bool> is_damaged_ = false;
  std::shared_ptr<const ReadableFile> held_file_;  // Constant once others use the file; mostly null.
};

}  // namespace tamis
