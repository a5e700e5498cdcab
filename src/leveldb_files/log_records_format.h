// LevelDB's log format, in which its logs and manifests are written.
//
//     file      blocks of 32 KiB; the last may be shorter. A record never begins in the last 6 bytes of a block
//     fragment  u32 masked CRC-32C of type and payload, u16 length, u8 type (1 full, 2 first, 3 middle, 4 last),
//     payload record    one full fragment, or a first, any number of middle ones and a last
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "io/file_system.h"

namespace tamis::leveldb {

/// Reads the records of one file in order, a block at a time.
///
/// A file may end in the middle of a record, or in zeros: LevelDB, or its machine, stopped while it wrote. LevelDB
/// drops such a tail; so does this, and tells where it begins. Any other damage is kCorruption, where LevelDB by
/// default skips it in logs.
///
/// Threads: one at a time. The file must outlive it.
class LogRecords {
 public:
  /// `name` is used in error messages.
  LogRecords(const ReadableFile& file, std::string_view name) : file_(file), name_(name) {}

  /// The next record, or nullopt at the end.
  Result<std::optional<std::string>> next();
  /// Where the record that was returned last begins.
  [[nodiscard]] std::uint64_t record_offset() const { return record_offset_; }
  /// At the end: where an incomplete record begins, if the file ends with one.
  [[nodiscard]] std::optional<std::uint64_t> torn_at() const { return torn_at_; }

 private:
  struct Fragment {
    std::uint8_t type;
    Bytes payload;
  };

  Result<std::optional<Fragment>> next_fragment();
  Result<std::optional<Fragment>> take_fragment();
  Status read_block();
  Result<bool> rest_is_zero();
  [[nodiscard]] std::uint64_t offset() const { return block_offset_ + at_; }
  [[nodiscard]] Status corruption(std::string_view why) const;

  const ReadableFile& file_;
  const std::string_view name_;
  std::string block_;
  std::uint64_t block_offset_ = 0;
  std::size_t at_ = 0;       // In the block.
  bool is_started_ = false;  // A block was read.
  bool is_last_ = false;     // The block ends the file.
  std::uint64_t fragment_offset_ = 0;
  std::uint64_t record_offset_ = 0;
  std::optional<std::uint64_t> torn_at_;
};

}  // namespace tamis::leveldb
