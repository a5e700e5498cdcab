// A lookup that goes through tables side by side with others, in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cache/frame.h"
#include "entry/entry.h"
#include "table/index_format.h"
#include "table/lookup_steps.h"

namespace tamis {

class Table;

/// How many go side by side: enough to have as many lines on their way as a core can wait for, few enough that what one
/// stage has asked for is still in the first cache when the next one reads it.
inline constexpr std::size_t kLookupsAtOnce = 32;

/// One of them, and how far it has come: each stage of Table::peek_many asks for the memory that the next one will
/// read, and is done for all lookups before the next stage is for any.
///
/// Threads: the one that is inside the EpochGuard.
struct StagedPeek {
  Lookup lookup;
  std::uint32_t number = 0;      // The caller's.
  std::uint32_t run = 0;         // For kUnknown: the first run that has not answered.
  Peek answer = Peek::kAbsent;   // So far.
  FoundEntry found;              // For kFound. The value lives as long as the guard.
  const Table* table = nullptr;  // That is asked now.
  bool is_expected = false;      // There: its filter is asked only if it is not.
  const Index* index = nullptr;  // From here on: what the stages leave for each other.
  BlockSlot* slots = nullptr;
  Frame* frame = nullptr;
  std::uint32_t group = 0;
  std::uint32_t block = 0;
  std::uint32_t entry = 0;
};

/// Some of the lookups that go side by side, in their order.
///
/// Threads: one.
class StagedGroup {
 public:
  void add(StagedPeek& peek) { peeks_[count_++] = &peek; }
  /// Leaves out those of which `stays` says no.
  template <typename Predicate>
  void keep_if(Predicate stays) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      StagedPeek* const peek = peeks_[i];
      peeks_[kept] = peek;
      kept += stays(*peek) ? 1 : 0;
    }
    count_ = kept;
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] StagedPeek* const* begin() const { return peeks_.data(); }
  [[nodiscard]] StagedPeek* const* end() const { return peeks_.data() + count_; }

 private:
  std::array<StagedPeek*, kLookupsAtOnce> peeks_;
  std::size_t count_ = 0;
};

}  // namespace tamis
