// A store that one test writes and follows.
#pragma once

#include <gtest/gtest.h>

#include <fmt/core.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/observed_file_system.h"
#include "tamis/db.h"

namespace tamis::test {

/// Small memtables and tables, so that few writes cause every kind of file operation.
inline const Options kFollowed{
    .memory_bytes = 1 << 20, .memtable_bytes = 64 << 10, .table_bytes = 64 << 10, .fanout = 2};

inline Environment without_threads(FileSystem& files) {
  return {.files = &files, .random_seed = 1, .runs_in_background = false};
}

inline Options follower_options(Options options = kFollowed) {
  options.read_only = true;
  options.follows = true;
  return options;
}

inline Result<DB> open_follower(FileSystem& files) {
  return DB::open("/store", follower_options(), without_threads(files));
}

using Content = std::map<std::string, std::string>;
using Contents = std::map<std::uint32_t, Content>;  // By the keyspace's id.

/// What is in a keyspace, as a scan shows it.
inline Content content_of(Iterator entries) {
  Content content;
  for (const auto& [key, value] : entries) content.emplace(key, value);
  EXPECT_TRUE(entries.status().ok()) << entries.status().to_text();
  return content;
}

/// Writes a store, and knows what it holds after each of its commits.
class FollowedStore {
 public:
  explicit FollowedStore(FileSystem& files, std::uint64_t value_bytes_apart = 0) : files_(files) {
    options_.value_bytes_apart = value_bytes_apart;
    after_[0] = {};
  }

  void open() {
    const Status opened = try_open();
    ASSERT_TRUE(opened.ok()) << opened.to_text();
  }
  Status try_open() {
    Result<DB> db = DB::open("/store", options_, without_threads(files_));
    if (!db.ok()) return db.status();
    db_.emplace(*std::move(db));
    others_.clear();
    return {};
  }
  void close() { db_.reset(); }
  /// Closes it and opens it again.
  void reopen_with(const Options& options) {
    close();
    options_ = options;
    std::vector<std::string> names;
    for (const auto& [name, keyspace] : others_) names.push_back(name);
    open();
    for (const std::string& name : names) add_keyspace(name);
  }
  /// The same store after its writer has died: what it recovers is what it holds.
  [[nodiscard]] FollowedStore reopened(FileSystem& files) const {
    FollowedStore again(files, options_.value_bytes_apart);
    again.after_ = after_;
    again.commits_ = commits_;
    again.open();
    again.lose_above(again.db().stats().sequence);
    for (const KeyspaceInfo& info : again.db().keyspaces()) {
      if (info.id != 0) again.add_keyspace(info.name);
    }
    return again;
  }
  [[nodiscard]] DB& db() { return *db_; }

  /// Commits a put of each key, in every keyspace, with a value that no other commit has. Key 'k0' is in every commit.
  Status commit(std::size_t value_bytes = 100, const WriteOptions& options = {}) {
    Batch batch;
    const std::string value = fmt::format("{:06}", ++commits_) + std::string(value_bytes, 'v');
    Contents next = now_;
    std::uint64_t entries = 0;
    const auto put = [&](std::uint32_t keyspace, auto put_in_batch, auto remove_in_batch) {
      for (const std::string& key : {std::string("k0"), fmt::format("k{}", commits_ % 17)}) {
        put_in_batch(key, value);
        next[keyspace][key] = value;
        ++entries;
      }
      const std::string removed = fmt::format("k{}", 1 + commits_ % 5);
      remove_in_batch(removed);
      next[keyspace].erase(removed);
      ++entries;
    };
    put(
        0, [&](const auto& key, const auto& v) { batch.put(key, v); }, [&](const auto& key) { batch.remove(key); });
    for (auto& [name, keyspace] : others_) {
      put(
          keyspace.id(), [&, &in = keyspace](const auto& key, const auto& v) { batch.put(in, key, v); },
          [&, &in = keyspace](const auto& key) { batch.remove(in, key); });
    }
    const std::uint64_t sequence = db_->stats().sequence + entries;
    after_[sequence] = next;
    Status written = db_->write(batch, options);
    if (written.ok()) now_ = std::move(next);
    return written;
  }
  void add_keyspace(const std::string& name) {
    Result<Keyspace> keyspace = db_->keyspace(name);
    ASSERT_TRUE(keyspace.ok()) << keyspace.status().to_text();
    others_.insert_or_assign(name, *std::move(keyspace));
  }
  void drop_keyspace(const std::string& name) {
    now_.erase(others_.at(name).id());
    others_.erase(name);
    ASSERT_TRUE(db_->drop_keyspace(name).ok());
  }

  /// Whether a reader of this sequence may see this in the keyspace.
  [[nodiscard]] bool is_prefix(std::uint64_t sequence, std::uint32_t keyspace, const Content& content) const {
    const auto found = after_.find(sequence);
    if (found == after_.end()) return false;
    const auto expected = found->second.find(keyspace);
    return expected == found->second.end() ? content.empty() : expected->second == content;
  }
  /// Whether all keyspaces of the follower show one prefix: that of `sequence`.
  void expect_prefix(DB& follower, std::uint64_t sequence, const std::string& where) const {
    const Snapshot snapshot = follower.snapshot();
    ASSERT_EQ(snapshot.sequence(), sequence) << where;
    for (const KeyspaceInfo& info : follower.keyspaces()) {
      Result<Keyspace> keyspace = follower.keyspace(info.name);
      ASSERT_TRUE(keyspace.ok()) << where;
      const Content content = content_of(keyspace->scan({.snapshot = &snapshot}));
      EXPECT_TRUE(is_prefix(sequence, info.id, content)) << where << ": keyspace '" << info.name << "' at sequence "
                                                         << sequence << " has " << content.size() << " keys";
      const auto k0 = keyspace->get("k0");
      ASSERT_TRUE(k0.ok()) << where << ": " << k0.status().to_text();
      EXPECT_EQ(k0->has_value(), content.contains("k0")) << where;
      if (k0->has_value()) {
        EXPECT_EQ(**k0, content.at("k0")) << where;
      }
    }
  }
  [[nodiscard]] std::uint64_t newest() const { return after_.rbegin()->first; }
  /// After a loss: commits above this sequence never were.
  void lose_above(std::uint64_t sequence) {
    after_.erase(after_.upper_bound(sequence), after_.end());
    now_ = after_.rbegin()->second;
  }

 private:
  Options options_ = kFollowed;
  FileSystem& files_;
  std::optional<DB> db_;
  std::map<std::string, Keyspace> others_;
  std::uint64_t commits_ = 0;
  Contents now_;
  std::map<std::uint64_t, Contents> after_;  // By sequence.
};

}  // namespace tamis::test
