// What was asked of a store and what it answered, so that a disk found after a crash can be held to it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tamis/batch.h"
#include "tamis/db.h"

namespace tamis::test {

/// Everything a store holds.
using Content = std::map<std::string, std::string>;

void apply_to(const Batch& batch, Content& content);
/// "3 keys: k01=…": short, for messages.
std::string to_text(const Content& content);

/// Three of them and their number.
std::string first_few(const std::vector<std::string>& violations);

/// Reads the store by a scan, and every key of it again by a get; an error or a disagreement is told, otherwise the
/// text is empty. `probed` are keys that are asked for whether the scan found them or not.
std::string read_all(const DB& db, const std::vector<std::string>& probed, Content& content);

/// What can be lost: nothing that was acknowledged when only the process died, nothing that was acknowledged as
/// durable when the machine did.
enum class Crash : std::uint8_t { kProcess, kMachine };

/// The commits of one store in their order, each acknowledged, refused or under way.
///
/// Invariants:
///  1. What the store may hold is the content after some acknowledged commit, or that plus one commit that was tried
///     directly after it and got an error or no answer yet.
///  2. The promise of durability only grows.
///
/// Threads: one at a time.
class StoreLedger {
 public:
  StoreLedger() { settle({}); }

  /// The store was made, durably.
  void created() { is_created_ = true; }
  [[nodiscard]] bool is_created() const { return is_created_; }

  /// A commit begins; one of the two that follow ends it.
  void tries(const Batch& batch);
  void acknowledged(bool is_durable);
  /// Everything acknowledged so far is durable.
  void all_durable();
  /// A copy of the store as it is now is being made, and is made. There is one copy.
  void begins_checkpoint() { checkpoint_ = current(); }
  void checkpoint_made() { is_checkpoint_made_ = true; }

  /// Empty, or how this content breaks the promises.
  [[nodiscard]] std::string check(const Content& found, Crash crash) const;
  /// A recovered store holds this, durably: the history begins anew.
  void settle(Content content);

  /// After the last acknowledged commit: what a reader of the running store sees.
  [[nodiscard]] const Content& current() const { return acknowledged_.back().content; }
  /// What the copy holds if it can be opened, and whether it must be there.
  [[nodiscard]] const std::optional<Content>& checkpoint() const { return checkpoint_; }
  [[nodiscard]] bool is_checkpoint_made() const { return is_checkpoint_made_; }
  /// Every key that was ever written.
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] std::size_t commits() const { return commits_; }
  /// Changes whenever what check() demands does.
  [[nodiscard]] std::uint64_t state_hash() const;

 private:
  struct State {
    Content content;
    std::size_t base = 0;  // Of a doubtful one: the acknowledged commit that it follows.
  };

  std::vector<State> acknowledged_;
  std::vector<State> doubtful_;
  std::size_t durable_ = 0;  // Index of the last acknowledged state that no crash may lose.
  std::optional<Content> checkpoint_;
  bool is_checkpoint_made_ = false;
  std::map<std::string, bool> keys_;
  std::size_t commits_ = 0;
  bool is_created_ = false;
};

}  // namespace tamis::test
