// The keys and values of a benchmark, computed from numbers so that nothing has to be stored; and the proof that the
// right ones were read.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace tamis::bench {

struct KeyText {
  std::array<char, 96> bytes;
  std::size_t size = 0;
  [[nodiscard]] std::string_view view() const { return {bytes.data(), size}; }
};

/// Number i has a key and values, which are views into a pool of half-compressible bytes. Even numbers are put into
/// stores; odd ones are the absent keys.
///
/// Threads: constant after construction.
class DataSet {
 public:
  enum class Keys {
    kRandom,     ///< 16 bytes; consecutive numbers are far apart.
    kAscending,  ///< 16 bytes, in the order of the numbers.
    kUrls,       ///< 86 bytes; the first 42 are equal, then a section, then numbers as in kRandom.
  };
  static constexpr std::uint64_t kVersions = 4;

  DataSet(Keys keys, std::size_t value_bytes);

  [[nodiscard]] KeyText key(std::uint64_t number) const;
  /// One of kVersions values.
  [[nodiscard]] std::string_view value(std::uint64_t number, std::uint64_t version = 0) const;
  /// Whether this is any version of the key's value.
  [[nodiscard]] bool belongs(std::string_view key, std::string_view value) const;
  [[nodiscard]] bool belongs(std::uint64_t number, std::string_view value) const;
  /// The approximate size of an entry.
  [[nodiscard]] std::size_t entry_bytes() const { return key(0).size + value_bytes_; }

 private:
  Keys keys_;
  std::size_t value_bytes_;
  std::string pool_;
};

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
