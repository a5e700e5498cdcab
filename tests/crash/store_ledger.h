// What was asked of a store and what it answered, to check a disk after a crash.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/batch.h"
#include "tamis/db.h"

namespace tamis::test {

/// Everything a store holds. The keys of a keyspace begin with its mark, and the mark alone says that it exists; the
/// default keyspace has no mark. A value that expires is followed by its due time, as due_text writes it.
using Content = std::map<std::string, std::string>;

std::string mark_of(std::string_view keyspace);
/// `names` of the keyspaces by id, the default one excepted. `now`: when the batch is written.
void apply_to(const Batch& batch, Content& content, const std::map<std::uint32_t, std::string>& names = {},
              std::uint64_t now = 0);
/// "3 keys: k01=…": short, for messages.
std::string to_text(const Content& content);

/// Three of them and their number.
std::string first_few(const std::vector<std::string>& violations);

/// Reads every keyspace with a scan, and every key again with a get. Returns the error or disagreement, or an empty
/// text. `probed` keys of the default keyspace are read whether or not the scan found them.
std::string read_all(DB& db, const std::vector<std::string>& probed, Content& content);

/// What may be lost: no acknowledged commit when only the process dies, no commit acknowledged as durable when the
/// machine does.
enum class Crash : std::uint8_t { kProcess, kMachine };

/// The commits of one store in order, each acknowledged, refused or in flight.
///
/// Invariants:
///  1. The store may hold the content after some acknowledged commit, or that plus one commit that was tried directly
///     after it and got an error or no answer yet.
///  2. The promise of durability only grows.
///  3. A keyspace is made and dropped durably, whatever becomes of the commits before. What a dropped keyspace held
///     belongs to no state any more.
///
/// Threads: one at a time.
class StoreLedger {
 public:
  StoreLedger() { settle({}); }

  /// The store was created durably.
  void created() { is_created_ = true; }
  [[nodiscard]] bool is_created() const { return is_created_; }

  /// The clock of the store's machine, in milliseconds since 1970, and how long that machine has run. Both begin as a
  /// frozen clock stands.
  [[nodiscard]] std::uint64_t now() const { return now_; }
  [[nodiscard]] std::uint64_t uptime() const { return now_ - kFirstTime; }
  void set_clock(std::uint64_t now) { now_ = now; }

  /// A commit begins; one of the next two functions ends it.
  void tries(const Batch& batch);
  void acknowledged(bool is_durable);
  /// Everything acknowledged so far is durable.
  void all_durable();
  /// A keyspace is being made or dropped: it may exist or not until one of the next two functions is called.
  void tries_keyspace(const std::string& name) { doubtful_keyspaces_.insert(name); }
  void made_keyspace(const std::string& name, std::uint32_t id);
  void dropped_keyspace(const std::string& name);
  /// A copy of the current store is being made, or is complete. There is one copy.
  void begins_checkpoint() { checkpoint_ = current(); }
  void checkpoint_made() { is_checkpoint_made_ = true; }

  /// Empty, or how this content breaks the promises.
  [[nodiscard]] std::string check(const Content& found, Crash crash) const;
  /// A recovered store durably holds this; the history restarts.
  void settle(Content content);

  /// After the last acknowledged commit: what a reader of the running store sees.
  [[nodiscard]] Content current() const { return visible(acknowledged_.back().content, keyspaces_); }
  /// What a reader finds in the copy if it can be opened, and whether it must exist.
  [[nodiscard]] std::optional<Content> checkpoint() const;
  [[nodiscard]] bool is_checkpoint_made() const { return is_checkpoint_made_; }
  /// Every key that was ever written.
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] std::size_t commits() const { return commits_; }
  /// Changes whenever the demands of check() do.
  [[nodiscard]] std::uint64_t state_hash() const;

 private:
  static constexpr std::uint64_t kFirstTime = 1'700'000'000'000;

  struct State {
    Content content;
    std::size_t base = 0;  // For an unsettled one: the acknowledged commit before it.
  };
  /// What is left of a state's content now, when these keyspaces exist, with their marks.
  [[nodiscard]] Content visible(const Content& content, const std::set<std::string>& keyspaces) const;
  [[nodiscard]] std::string check_keyspaces(const std::set<std::string>& found) const;

  std::vector<State> acknowledged_;
  std::vector<State> doubtful_;
  std::size_t durable_ = 0;  // Index of the last acknowledged state that no crash may lose.
  std::optional<Content> checkpoint_;
  bool is_checkpoint_made_ = false;
  std::map<std::string, bool> keys_;
  std::size_t commits_ = 0;
  std::uint64_t now_ = kFirstTime;
  bool is_created_ = false;
  std::set<std::string> keyspaces_;
  std::set<std::string> doubtful_keyspaces_;    // Each may exist or not.
  std::map<std::uint32_t, std::string> names_;  // By id.
  std::uint64_t keyspace_changes_ = 0;
};

}  // namespace tamis::test
