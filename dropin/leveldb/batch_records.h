// The bytes of a leveldb::WriteBatch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tamis::dropin {

/// One change of a batch. The views point into its bytes.
struct BatchRecord {
  std::string_view key;
  std::optional<std::string_view> value;  ///< None: the key is deleted.
};

/// Reads the records of a batch in order:
///
///     sequence   8 bytes, little-endian; LevelDB's own
///     count      4 bytes, little-endian
///     records    0x01 key value | 0x00 key; each of them a varint of its length, and its bytes
///
/// Threads: one at a time. The bytes must outlive it.
class BatchRecords {
 public:
  static constexpr std::size_t kHeader = 12;  ///< The bytes before the first record.

  explicit BatchRecords(std::string_view bytes);

  /// The next record, or none at the end and where the bytes are damaged.
  std::optional<BatchRecord> next();
  /// Null, or what is wrong with the bytes; known at the end.
  [[nodiscard]] const char* damage() const { return damage_; }

  /// The bytes of an empty batch.
  static std::string empty() { return std::string(kHeader, '\0'); }
  static void add_put(std::string& bytes, std::string_view key, std::string_view value);
  static void add_delete(std::string& bytes, std::string_view key);
  /// Appends the records of another batch, which may be the same.
  static void append(std::string& bytes, const std::string& source);

 private:
  std::optional<std::string_view> take_field();
  std::optional<BatchRecord> stop(const char* damage);

  std::string_view rest_;
  std::uint32_t left_ = 0;  // Records that the header counts and that were not read yet.
  const char* damage_ = nullptr;
};

}  // namespace tamis::dropin
