// Files of a test, each written or listed with one call.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "io/file.h"
#include "io/file_system.h"

namespace tamis::test {

/// Writes into the file, which exists.
inline void overwrite(FileSystem& files, const std::string& path, std::uint64_t offset, std::string_view bytes) {
  const Bytes piece = as_bytes(bytes);
  EXPECT_TRUE((*files.open_writable(path, OpenMode::kExisting))->write_at(offset, std::span(&piece, 1)).ok());
}

/// The file has these bytes and no others, durably.
inline void put_file(FileSystem& files, const std::string& path, std::string_view bytes) {
  const std::unique_ptr<WritableFile> file = *files.open_writable(path, OpenMode::kReplace);
  const Bytes piece = as_bytes(bytes);
  EXPECT_TRUE(file->write_at(0, std::span(&piece, 1)).ok() && file->sync().ok());
}

/// Sets a byte of the header with which the file begins. A header ends with its checksum, which then fits again.
inline void set_header_byte(FileSystem& files, const std::string& path, std::size_t header_bytes, std::size_t at,
                            char value) {
  std::string text = *read_whole_file(files, path);
  text[at] = value;
  store_le(text.data() + header_bytes - 8, checksum64(as_bytes(text).first(header_bytes - 8)));
  put_file(files, path, text);
}

/// Sorted; none if there is no such folder.
inline std::vector<std::string> names_in(FileSystem& files, const std::string& directory) {
  std::vector<std::string> names;
  const Result<std::vector<DirectoryEntry>> listed = files.list(directory);
  if (!listed.ok()) return names;
  for (const DirectoryEntry& entry : *listed) names.push_back(entry.name);
  return names;
}

}  // namespace tamis::test
