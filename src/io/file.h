// Whole files: mapped for reading, replaced in one step for writing. Nothing here knows what is in them.
#pragma once

#include <cstddef>
#include <string>

#include "base/bytes.h"
#include "tamis/status.h"

namespace tamis {

/// A file's bytes, mapped read-only. The file must not be cut short while it is mapped; tamis replaces files and
/// never shortens them.
///
/// Threads: constant after opening.
class MappedFile {
 public:
  /// kIoError when the file is missing, not readable, or not a regular file; the message says which.
  static Result<MappedFile> open(const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  [[nodiscard]] Bytes bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Replaces the file by these bytes: written beside it, synced, renamed over it. Either the old file or the new one
/// is there at every moment. "-" is standard output.
Status write_file(const std::string& path, Bytes bytes);

}  // namespace tamis
