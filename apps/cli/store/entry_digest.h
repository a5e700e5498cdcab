// Count and checksum of entries in their order.
#pragma once

#include <fmt/core.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tamis::cli {

/// Equal for equal sequences of entries. Each hash is the seed of the next, so that order and lengths count.
///
/// Threads: one.
class EntryDigest {
 public:
  void add(std::string_view key, std::string_view value) {
    add_bytes(key);
    add_bytes(value);
    ++count_;
  }
  /// Before the entries of a keyspace.
  void add_name(std::string_view name) { add_bytes(name); }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}", checksum_); }

  friend bool operator==(const EntryDigest&, const EntryDigest&) = default;

 private:
  void add_bytes(std::string_view bytes) { checksum_ = XXH3_64bits_withSeed(bytes.data(), bytes.size(), checksum_); }

  std::uint64_t count_ = 0;
  std::uint64_t checksum_ = 0;
};

}  // namespace tamis::cli
