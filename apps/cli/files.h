// Files for the command: "-" is standard input or output, and every error names the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace tamis::cli {

/// A file open for sequential reading.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The number of bytes read; 0 at the end.
  std::size_t read(std::span<char> into);
  /// The name used in messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool is_regular() const { return is_regular_; }
  /// 0 if unknown: pipes and terminals.
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  std::string name_;
  int descriptor_ = -1;
  bool is_regular_ = false;
  std::uint64_t size_ = 0;
};

/// Everything up to the end. If that exceeds `most` bytes, a prefix of more than `most` bytes.
std::string read_rest(InputFile& file, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// Replaces the file atomically; "-" and special files are written in place.
void write_whole(const std::string& path, std::string_view bytes);

/// Writes directly to a descriptor; `name` is used in messages.
void write_all(int descriptor, std::string_view name, std::string_view bytes);

}  // namespace tamis::cli
