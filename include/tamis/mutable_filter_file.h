// A mutable filter in a file that survives crashes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tamis/export.h"
#include "tamis/filter.h"
#include "tamis/status.h"

namespace tamis {

class FileSystem;

/// A MutableFilter whose changes go to its file as they are made.
///
///     auto seen = tamis::MutableFilterFile::open("seen.tamis");
///     tamis::Status added = seen->add(url);      // Survives the process.
///     tamis::Status synced = seen->sync();       // Survives the machine.
///
/// Changes are appended to a log behind the filter; when the log is long, the file is replaced by one without. Filter
/// and MutableFilter read files with a log, too. Older builds refuse them.
///
/// No key is lost: one whose add has returned is there after the process was killed, and after the machine stopped if
/// sync() has returned since. A key that was removed may be back then, like a false positive.
///
/// Part of the store's library, not of the filter library alone.
///
/// Threads: one at a time, and one process: opening a file that another has open returns kBusy.
class TAMIS_EXPORT MutableFilterFile {
 public:
  /// Creates a filter as MutableFilter::create does, in a new file. kInvalidArgument if the file exists.
  static Result<MutableFilterFile> create(const std::string& path, const FilterOptions& options);
  /// Opens the file of a mutable filter, whoever wrote it. What a crash has torn is gone; damage to what was durable is
  /// kCorruption.
  static Result<MutableFilterFile> open(const std::string& path);

  /// Empty: the filter answers maybe, and changes return kClosed.
  MutableFilterFile() noexcept;
  /// Moves the open file; the source becomes empty.
  MutableFilterFile(MutableFilterFile&&) noexcept;
  /// Like the constructor; closes the file this one had, as the destructor does.
  MutableFilterFile& operator=(MutableFilterFile&&) noexcept;
  /// Closes without sync().
  ~MutableFilterFile();

  /// Adds a key, as MutableFilter::add does. After an I/O error it may be in the filter and not in the file; add it
  /// again.
  Status add(std::string_view key) { return add(std::span(&key, 1)); }
  /// Adds keys, in a few records. After an error some of them may have been added.
  Status add(std::span<const std::string_view> keys);
  /// Removes one copy of a key, as MutableFilter::remove does.
  Result<bool> remove(std::string_view key);
  /// Makes all changes durable. After a failed sync every change fails; open the file again.
  Status sync();
  /// Makes all changes durable, and replaces the file by one without a log if the log is long. The file is closed even
  /// if this fails.
  Status close();

  /// The filter, with all changes.
  [[nodiscard]] const MutableFilter& filter() const;

 private:
  friend Result<MutableFilterFile> open_mutable_filter_file(FileSystem& files, const std::string& path);
  struct State;

  std::unique_ptr<State> state_;  // Null: empty.
};

}  // namespace tamis
