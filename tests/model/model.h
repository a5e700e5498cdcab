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

/// A std::map for each keyspace, and a copy of them for each snapshot.
///
/// Threads: one at a time.
class Model {
 public:
  using Map = std::map<std::string, std::shared_ptr<const std::string>, std::less<>>;
  /// When a value expires, and what is left of the key then: the operands that were merged since.
  struct Due {
    std::uint64_t time = 0;
    std::optional<std::string> operands = {};
  };
  struct Keyspace {
    std::optional<std::uint32_t> id = {};  ///< In the store; none if it does not exist.
    Map map = {};
    std::map<std::string, Due, std::less<>> due = {};  ///< Of the keys whose values expire.
  };
  using Keyspaces = std::array<Keyspace, kKeyspaces>;
  /// What an operation reads.
  struct Target {
    std::uint32_t id = 0;
    const Map* map = nullptr;
  };

  Model() { now_[0].id = 0; }

  /// The keyspace that is meant by this number: the default one if there is none of it.
  [[nodiscard]] std::uint32_t existing(std::uint32_t keyspace) const { return now_.at(keyspace).id ? keyspace : 0; }
  /// `written_at` is the time of the write.
  void apply(const Change& change, std::uint32_t keyspace, std::uint64_t written_at);
  /// What is due by then is gone. Snapshots keep what they saw.
  void pass_time(std::uint64_t now);
  void make_keyspace(std::uint32_t keyspace, std::uint32_t id) { now_.at(keyspace) = {.id = id}; }
  static void apply_to(Map& map, const Change& change);
  void drop_keyspace(std::uint32_t keyspace) { now_.at(keyspace) = {}; }
  /// At the snapshot in the slot, if any; otherwise now. A keyspace that has been dropped since is still in a snapshot.
  [[nodiscard]] Target at(std::uint32_t keyspace, const std::optional<std::uint32_t>& slot) const;
  [[nodiscard]] const Keyspaces& now() const { return now_; }

  void take_snapshot(std::uint32_t slot) { snapshots_.at(slot) = now_; }
  void release(std::uint32_t slot) { snapshots_.at(slot).reset(); }
  void release_all() { snapshots_ = {}; }
  [[nodiscard]] bool has_snapshot(std::uint32_t slot) const { return snapshots_.at(slot).has_value(); }
  [[nodiscard]] std::uint64_t snapshots() const;
  /// Every change so far, with the id of its keyspace.
  [[nodiscard]] const std::vector<std::pair<std::uint32_t, Change>>& log() const { return log_; }
  /// The number of changes so far.
  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }

 private:
  Keyspaces now_;
  std::array<std::optional<Keyspaces>, Operation::kSlots> snapshots_;
  std::uint64_t sequence_ = 0;
  std::uint64_t time_ = 0;
  std::vector<std::pair<std::uint32_t, Change>> log_;
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
