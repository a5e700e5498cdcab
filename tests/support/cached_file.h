// One file of the modelled disk: what was written and what of it is durable.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"

namespace tamis {

/// What a crash leaves of unsynced changes. Synced changes always survive.
enum class Loss : std::uint8_t {
  kEverything,   ///< No unsynced change survives.
  kNothing,      ///< All survive, as after a process crash.
  kPages,        ///< Each 4 KiB page has one of the states it went through.
  kSectors,      ///< The same for each 512-byte sector; some are torn.
  kNames,        ///< Some unsynced creations, renames and removals did not happen.
  kZeroTail,     ///< Lengths survive; unsynced bytes after some offset are zero.
  kGarbageTail,  ///< Lengths survive; unsynced bytes after some offset are arbitrary.
};
inline constexpr std::array kAllLosses = {Loss::kEverything, Loss::kNothing,  Loss::kPages,      Loss::kSectors,
                                          Loss::kNames,      Loss::kZeroTail, Loss::kGarbageTail};

std::string_view to_string(Loss loss);

/// A file's bytes in the page cache and on the disk beneath it.
///
/// Invariants:
///  1. bytes() is what a reader sees: every change, synced or not.
///  2. The disk has the synced changes for certain, and of the pending ones whatever after_crash draws: each page or
///     sector has a state that it had at some moment since the last sync, independently of the others.
///
/// Threads: one at a time.
class CachedFile {
 public:
  explicit CachedFile(std::string bytes = {}) : cached_(bytes), durable_(std::move(bytes)) {}

  [[nodiscard]] const std::string& bytes() const { return cached_; }
  void write(std::uint64_t offset, std::span<const Bytes> pieces);
  /// Durable at once, and nothing else with it.
  void write_durably(std::uint64_t offset, std::span<const Bytes> pieces);
  void resize(std::uint64_t size);

  void sync();
  /// What Linux does if the disk refuses a page during fsync: some pages arrived, others did not, and all are now
  /// clean, so a second sync() succeeds without writing them.
  void fail_sync(SplitMix64& random);
  [[nodiscard]] std::string after_crash(Loss loss, SplitMix64& random) const;

 private:
  /// A write, or without bytes a change of size.
  struct Change {
    std::uint64_t offset = 0;
    std::string bytes;
    std::uint64_t size = 0;  // Of the file, afterwards.
  };
  /// The pending changes of each granule (page or sector), oldest first.
  using ChangesByGranule = std::map<std::uint64_t, std::vector<const Change*>>;

  static void apply(const Change& change, std::uint64_t begin, std::uint64_t end, std::string& image);
  [[nodiscard]] std::uint64_t extent() const;
  [[nodiscard]] ChangesByGranule changes_by_granule(std::uint64_t granule_bytes) const;
  [[nodiscard]] std::uint64_t some_size(SplitMix64& random) const;
  void keep_some(std::uint64_t granule_bytes, bool tear, SplitMix64& random, std::string& image) const;
  void spoil_tail(bool garbage, SplitMix64& random, std::string& image) const;

  std::string cached_;
  std::string durable_;
  std::vector<Change> pending_;  // Since the last sync, oldest first.
};

}  // namespace tamis
