// The keys and values of a benchmark, computed from numbers so that nothing has to be stored.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

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
  [[nodiscard]] std::size_t value_bytes() const { return value_bytes_; }

 private:
  Keys keys_;
  std::size_t value_bytes_;
  std::string pool_;
};

}  // namespace tamis::bench
