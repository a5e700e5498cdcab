// Runs the model's operations against other stores: all must give the same answers. A std::map says what we think is
// right; RocksDB and LevelDB say whether others agree.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>

#include "model/generator.h"
#include "oracle/peer_store.h"
#include "support/figures.h"

namespace tamis::test {
namespace {

/// The stores, ours first, and what is open in each.
class Panel {
 public:
  explicit Panel(std::uint64_t seed) {
    add(make_tamis_peer(seed));
#ifdef TAMIS_HAS_ROCKSDB
    add(make_rocksdb_peer());
#endif
#ifdef TAMIS_HAS_LEVELDB
    add(make_leveldb_peer());
#endif
  }

  [[nodiscard]] std::size_t rivals() const { return members_.size() - 1; }

  /// The first answer that differs, or nothing.
  std::string run(const Operation& operation) {
    const auto same = [&](auto ask) -> std::string {
      const auto ours = ask(members_.front());
      for (std::size_t i = 1; i < members_.size(); ++i) {
        if (ask(members_[i]) != ours) {
          return fmt::format("{} says otherwise: {}", members_[i].store->name(), to_text(operation));
        }
      }
      return {};
    };
    const auto all = [&](auto act) -> std::string {
      for (Member& member : members_) act(member);
      return {};
    };
    switch (operation.verb) {
      case Verb::kPut:
      case Verb::kRemove:
      case Verb::kRemoveRange:
      case Verb::kMerge:
      case Verb::kWrite:
      case Verb::kTryWrite: return all([&](Member& member) { member.store->write(operation.changes, operation.sync); });
      case Verb::kGet:
      case Verb::kGetInto:
      case Verb::kGetPinned:
      case Verb::kExplain:
        return same([&](Member& member) { return member.store->get(operation.keys.front(), operation.slot); });
      case Verb::kMultiGet:
        return same([&](Member& member) { return member.store->multi_get(operation.keys, operation.slot); });
      case Verb::kScan:
        return same([&](Member& member) {
          return places(*member.store->walk(operation.bounds, operation.slot), operation.moves);
        });
      case Verb::kOpenIterator:
        return same([&](Member& member) {
          std::unique_ptr<PeerWalk>& walk = member.walks.at(*operation.slot);
          walk = member.store->walk(operation.bounds, operation.slot);
          return places(*walk, operation.moves);
        });
      case Verb::kMoveIterator:
        return same([&](Member& member) {
          const std::unique_ptr<PeerWalk>& walk = member.walks.at(*operation.slot);
          return walk == nullptr ? std::vector<PeerWalk::Place>() : places(*walk, operation.moves);
        });
      case Verb::kDropIterator: return all([&](Member& member) { member.walks.at(*operation.slot).reset(); });
      case Verb::kSnapshot: return all([&](Member& member) { member.store->take_snapshot(*operation.slot); });
      case Verb::kRelease: return all([&](Member& member) { member.store->release(*operation.slot); });
      case Verb::kFlush: return all([&](Member& member) { member.store->flush(); });
      case Verb::kCompact: return all([&](Member& member) { member.store->compact(); });
      case Verb::kReopen:
      case Verb::kAbandon:
      case Verb::kCrash:
        return all([&](Member& member) {
          member.walks = {};
          member.store->reopen();
        });
      case Verb::kPassTime:  // All values are put to stay.
      case Verb::kBegin:     // The others' transactions differ.
      case Verb::kGetIn:
      case Verb::kScanIn:
      case Verb::kWriteIn:
      case Verb::kSavepoint:
      case Verb::kRollbackTo:
      case Verb::kCommit:
      case Verb::kRollback:
      case Verb::kSync:
      case Verb::kMakeKeyspace:  // The others have one tree: all keyspaces are one here.
      case Verb::kDropKeyspace:
      case Verb::kWaitIdle:
      case Verb::kResume:
      case Verb::kCheckpoint:
      case Verb::kFollow:
      case Verb::kVerify:
      case Verb::kApproximateSize:
      case Verb::kStats:
      case Verb::kPlan:
      case Verb::kReadOnly:
      case Verb::kRepair: return {};  // Nothing to compare.
    }
    return {};
  }

 private:
  struct Member {
    std::unique_ptr<PeerStore> store;
    std::array<std::unique_ptr<PeerWalk>, Operation::kSlots> walks = {};  // Destroyed before the store.
  };

  void add(std::unique_ptr<PeerStore> store) { members_.push_back({std::move(store)}); }

  /// The iterator's position, now and after each move.
  static std::vector<PeerWalk::Place> places(PeerWalk& walk, const std::vector<Move>& moves) {
    std::vector<PeerWalk::Place> places = {walk.place()};
    for (const Move& move : moves) {
      const bool needs_place = move.kind == Move::Kind::kNext || move.kind == Move::Kind::kPrevious;
      if (needs_place && !places.back()) continue;
      walk.move(move);
      places.push_back(walk.place());
    }
    return places;
  }

  std::vector<Member> members_;
};

TEST(Oracle, RocksdbAndLeveldbGiveTheSameAnswers) {
  constexpr std::size_t kRuns = 10;
  constexpr std::size_t kOperations = 30'000;
  for (std::uint64_t seed = 70'000; seed < 70'000 + kRuns; ++seed) {
    Panel panel(seed);
    if (panel.rivals() == 0) GTEST_SKIP() << "built without librocksdb-dev and libleveldb-dev";
    Generator generator(seed);
    for (std::size_t i = 0; i < kOperations; ++i) {
      ASSERT_EQ(panel.run(generator.next()), "") << "seed " << seed << ", operation " << i;
    }
    ASSERT_EQ(panel.run({.verb = Verb::kScan, .moves = std::vector<Move>(5000)}), "") << "seed " << seed;
    record_figure("oracle_operations", kOperations);
  }
}

}  // namespace
}  // namespace tamis::test
