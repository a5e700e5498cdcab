// A store on an in-memory disk that counts reads.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "io/memory_file_system.h"
#include "support/counting_file_system.h"
#include "tamis/db.h"

namespace tamis::test {

/// The counters of a store, summed over its levels.
struct LookupCounts {
  std::uint64_t positives = 0;  ///< Tables whose filter did not rule the key out.
  std::uint64_t false_positives = 0;
  std::uint64_t blocks_read = 0;
};

/// Runs no background work unless the options say so, and always in the same order.
class CountedStore {
 public:
  explicit CountedStore(Options options, FileSystem* files = nullptr)
      : counting(files != nullptr ? *files : memory), options_(std::move(options)) {
    reopen();
  }
  void reopen() { reopen(options_); }
  void reopen(const Options& options) {
    db.reset();
    Result<DB> opened = DB::open(kPath, options, {.files = &counting, .random_seed = 7, .runs_in_background = false});
    if (!opened.ok()) fmt::print("{}\n", opened.status().to_text());
    TAMIS_CHECK(opened.ok());
    db.emplace(std::move(*opened));
  }

  /// Keys number first, first + step, … below end, all of one length; the last byte is a 0.
  void put_numbers(std::uint64_t first, std::uint64_t end, std::uint64_t step) {
    Batch batch;
    for (std::uint64_t i = first; i < end; i += step) {
      batch.put(present_key(i), value_of_number(i));
      if (batch.byte_size() < 16'000) continue;
      TAMIS_CHECK(db->write(batch).ok());
      batch.clear();
    }
    TAMIS_CHECK(db->write(batch).ok());
  }
  static std::string present_key(std::uint64_t i) { return fmt::format("key{:010}0", i); }
  /// Never put; sorts right after the present key of that number.
  static std::string absent_key(std::uint64_t i) { return fmt::format("key{:010}1", i); }
  static std::string value_of_number(std::uint64_t i) { return fmt::format("value of {}", i); }

  [[nodiscard]] LookupCounts counts() const {
    LookupCounts sum;
    for (const Stats::Level& level : db->stats().levels) {
      sum.positives += level.probes - level.negatives;
      sum.false_positives += level.false_positives;
      sum.blocks_read += level.blocks_read;
    }
    return sum;
  }
  [[nodiscard]] std::uint64_t runs() const {
    std::uint64_t sum = 0;
    for (const Stats::Level& level : db->stats().levels) sum += level.runs;
    return sum;
  }
  [[nodiscard]] std::uint64_t filter_bytes() const {
    std::uint64_t sum = 0;
    for (const Stats::Level& level : db->stats().levels) sum += level.filter_bytes;
    return sum;
  }

  static constexpr const char* kPath = "/store";
  MemoryFileSystem memory;
  CountingFileSystem counting;
  std::optional<DB> db;

 private:
  Options options_;
};

}  // namespace tamis::test
