// What Snappy's own compressor makes of some bytes.
#pragma once

#include <gtest/gtest.h>
#include <snappy-c.h>  // No type of a standard library: the tests may be built with another one than Snappy was.

#include <string>

namespace tamis::test {

inline std::string snappy_packed(const std::string& contents) {
  std::size_t size = snappy_max_compressed_length(contents.size());
  std::string packed(size, '\0');
  EXPECT_EQ(snappy_compress(contents.data(), contents.size(), packed.data(), &size), SNAPPY_OK);
  packed.resize(size);
  return packed;
}

}  // namespace tamis::test
