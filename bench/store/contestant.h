// One store among others: what every contestant of the store benchmark can do.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tamis::bench {

/// Configured as its expert would: filters of 10 bits a key, 64 MB memtables, a cache that holds everything, no
/// compression, the journal on. A failure stops the program: a benchmark of wrong answers is none.
///
/// Threads: one.
class StoreContestant {
 public:
  virtual ~StoreContestant() = default;

  [[nodiscard]] virtual std::string name() const = 0;  ///< With its version.
  /// A fresh store in this folder, which is empty.
  virtual void open(const std::string& directory) = 0;
  virtual void put(std::string_view key, std::string_view value) = 0;
  virtual void put_batch(std::span<const std::pair<std::string, std::string>> entries) = 0;
  /// Everything in the shape in which lookups are fastest.
  virtual void settle() = 0;
  /// True, and the value in the buffer, when it is there.
  virtual bool get(std::string_view key, std::string& buffer) = 0;
  /// Seeks to the key and reads up to `count` entries; returns the bytes seen.
  virtual std::uint64_t scan(std::string_view from, std::size_t count) = 0;
  virtual void close() = 0;
};

std::unique_ptr<StoreContestant> make_tamis();
std::unique_ptr<StoreContestant> make_rocksdb();  ///< Null when this build has none.
std::unique_ptr<StoreContestant> make_lmdb();     ///< Null when this build has none.

}  // namespace tamis::bench
