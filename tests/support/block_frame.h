// A data block in memory.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/aligned_bytes.h"
#include "table/data_block_format.h"

namespace tamis::test {

/// A block in memory like a cache frame: followed by exactly the slack.
class BlockFrame {
 public:
  explicit BlockFrame(std::string_view block)
      : block_bytes_(block.size()),
        bytes_(AlignedBytes::copy_of(as_bytes(std::string(block) + std::string(kBlockSlackBytes, '\0')))) {}

  [[nodiscard]] Bytes bytes() const { return bytes_.span().first(block_bytes_); }
  /// It must be sound.
  [[nodiscard]] DataBlock block() const {
    const Status status = DataBlock::check(bytes(), "t", 0);
    EXPECT_TRUE(status.ok()) << status.to_text();
    return DataBlock(bytes());
  }

 private:
  std::size_t block_bytes_;
  AlignedBytes bytes_;
};

}  // namespace tamis::test
