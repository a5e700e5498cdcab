// Proof that the right values were read.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace tamis::bench {

class DataSet;  // data_set.h.

/// The sum of all 8-byte words of a value: touches every byte, in a few nanoseconds.
inline std::uint64_t fold(std::string_view value) {
  std::uint64_t sum = value.size();
  const char* at = value.data();
  std::size_t left = value.size();
  for (; left >= 8; left -= 8, at += 8) sum += load_le<std::uint64_t>(at);
  for (; left > 0; --left, ++at) sum += static_cast<unsigned char>(*at);
  return sum;
}

/// Counts and sums what is read; the sum is compared with the expected one after the clock has stopped. With a data
/// set, every entry is checked immediately instead: its value against its key, and keys of a scan for their order.
struct Tally {
  std::uint64_t entries = 0;
  std::uint64_t sum = 0;
  const DataSet* checks = nullptr;
  std::string last_key = {};

  void add(std::string_view value) {
    ++entries;
    sum += fold(value);
  }
  void add(std::string_view key, std::string_view value) {
    if (checks != nullptr) check(key, value);
    add(value);
  }

 private:
  void check(std::string_view key, std::string_view value);
};

}  // namespace tamis::bench
