// Whole files: mapped for reading, replaced atomically for writing. Contents are opaque here.
#pragma once

#include <cstddef>
#include <string>

#include "base/bytes.h"
#include "tamis/status.h"

namespace tamis {

/// A file's bytes, mapped read-only. The file must not be shortened while it is mapped; tamis replaces files and never
/// shortens them.
///
/// Threads: constant after opening.
class MappedFile {
 public:
  /// kIoError if the file is missing, unreadable, or not a regular file; the message says which.
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

/// Replaces the file with these bytes: written to a temporary file, synced, renamed. At every moment either the old or
/// the new file exists. "-" is standard output.
Status write_file(const std::string& path, Bytes bytes);

}  // namespace tamis
