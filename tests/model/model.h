// The simplest model of a store's answers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/operation.h"

namespace tamis::test {

/// A std::map, and a copy of it for each snapshot.
///
/// Threads: one at a time.
class Model {
 public:
  using Map = std::map<std::string, std::shared_ptr<const std::string>, std::less<>>;

  void apply(const Change& change);
  /// The contents at the snapshot in the slot, if any; otherwise the current contents.
  [[nodiscard]] const Map& at(const std::optional<std::uint32_t>& slot) const;
  [[nodiscard]] const Map& now() const { return now_; }
  /// Null when the key is absent.
  [[nodiscard]] const std::string* find(std::string_view key, const std::optional<std::uint32_t>& slot) const;

  void take_snapshot(std::uint32_t slot) { snapshots_.at(slot) = now_; }
  void release(std::uint32_t slot) { snapshots_.at(slot).reset(); }
  void release_all() { snapshots_ = {}; }
  [[nodiscard]] bool has_snapshot(std::uint32_t slot) const { return snapshots_.at(slot).has_value(); }
  [[nodiscard]] std::uint64_t snapshots() const;
  /// The number of changes so far.
  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }

 private:
  Map now_;
  std::array<std::optional<Map>, Operation::kSlots> snapshots_;
  std::uint64_t sequence_ = 0;
};

/// An iterator over what a map held when the iterator was created.
///
/// Threads: one at a time.
class ModelWalk {
 public:
  ModelWalk(const Model::Map& map, const Bounds& bounds);

  [[nodiscard]] bool valid() const { return at_ < entries_.size(); }
  [[nodiscard]] const std::string& key() const { return entries_[at_].first; }
  [[nodiscard]] const std::string& value() const { return *entries_[at_].second; }
  /// Precondition of next and previous: valid().
  void move(const Move& move);

 private:
  /// Entries before the key.
  [[nodiscard]] std::size_t count_before(std::string_view key) const;

  bool is_reverse_;
  std::vector<std::pair<std::string, std::shared_ptr<const std::string>>> entries_;
  std::size_t at_ = 0;  // Past the last one: at none.
};

}  // namespace tamis::test
