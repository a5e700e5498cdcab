// Writes a value file.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/append_file.h"
#include "table/codec.h"
#include "table/value_file_format.h"
#include "table/value_files.h"
#include "tamis/status.h"

namespace tamis {

/// The properties of a value file to be built.
struct ValueFileSpec {
  std::string path = {};
  std::uint64_t number = 0;
  std::array<std::byte, 16> store_id = {};
  Features features = {};
  const Codec* codec = nullptr;  ///< Null: none.
  std::uint64_t created_unix_seconds = 0;
};

/// Appends values to a new file. It has its final name from the start; a file in no manifest is ignored.
///
/// Threads: one at a time.
class ValueFileBuilder {
 public:
  static Result<std::unique_ptr<ValueFileBuilder>> create(FileSystem& files, ValueFileSpec spec);

  /// Compresses the value if that saves an eighth, and appends it.
  Result<ValuePointer> add(std::string_view key, std::string_view value);
  /// The size of the file if it ended now.
  [[nodiscard]] std::uint64_t bytes() const { return file_.end() + buffer_.size(); }
  /// Writes the rest, syncs and closes the file; the caller syncs the folder.
  Result<ValueFileFacts> finish();

 private:
  ValueFileBuilder(ValueFileSpec spec, std::unique_ptr<WritableFile> file);

  const ValueFileSpec spec_;
  AppendFile file_;
  std::string buffer_;  // Bytes after the file's end, not yet written.
  std::string compressed_;
};

}  // namespace tamis
