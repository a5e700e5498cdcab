#include <array>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "io/memory_file_system.h"
#include "model/option_sets.h"
#include "oracle/peer_store.h"
#include "tamis/db.h"

namespace tamis::test {
namespace {

class TamisWalk final : public PeerWalk {
 public:
  explicit TamisWalk(Iterator it) : it_(std::move(it)) {}

  void move(const Move& move) override {
    switch (move.kind) {
      case Move::Kind::kNext: it_.next(); break;
      case Move::Kind::kPrevious: it_.previous(); break;
      case Move::Kind::kSeek: it_.seek(move.key); break;
      case Move::Kind::kSeekBefore: it_.seek_before(move.key); break;
      case Move::Kind::kFirst: it_.seek_to_first(); break;
      case Move::Kind::kLast: it_.seek_to_last(); break;
    }
  }
  [[nodiscard]] Place place() const override {
    TAMIS_CHECK(it_.status().ok());
    if (!it_.valid()) return {};
    return Place({std::string(it_.key()), std::string(it_.value())});
  }

 private:
  Iterator it_;
};

/// Opened with different options every time.
class TamisPeer final : public PeerStore {
 public:
  explicit TamisPeer(std::uint64_t seed) : draws_(seed) { open(); }

  [[nodiscard]] std::string_view name() const override { return "tamis"; }
  void write(const std::vector<Change>& changes, bool syncs) override {
    Batch batch;
    for (const Change& change : changes) {
      if (change.is_put) {
        batch.put(change.key, value_of(change));
      } else {
        batch.remove(change.key);
      }
    }
    TAMIS_CHECK(db_->write(batch, {.sync = syncs}).ok());
  }
  std::optional<std::string> get(const std::string& key, std::optional<std::uint32_t> slot) override {
    Result<std::optional<std::string>> value = db_->get(key, {.snapshot = snapshot(slot)});
    TAMIS_CHECK(value.ok());
    return *std::move(value);
  }
  std::vector<std::optional<std::string>> multi_get(const std::vector<std::string>& keys,
                                                    std::optional<std::uint32_t> slot) override {
    const std::vector<std::string_view> views(keys.begin(), keys.end());
    std::vector<std::optional<std::string>> values;
    for (Result<std::optional<std::string>>& value : db_->multi_get(views, {.snapshot = snapshot(slot)})) {
      TAMIS_CHECK(value.ok());
      values.push_back(*std::move(value));
    }
    return values;
  }
  std::unique_ptr<PeerWalk> walk(const Bounds& bounds, std::optional<std::uint32_t> slot) override {
    ScanOptions options{.prefix = bounds.prefix, .reverse = bounds.reverse, .snapshot = snapshot(slot)};
    if (bounds.from) options.from = *bounds.from;
    if (bounds.to) options.to = *bounds.to;
    return std::make_unique<TamisWalk>(db_->scan(options));
  }
  void take_snapshot(std::uint32_t slot) override { snapshots_.at(slot) = db_->snapshot(); }
  void release(std::uint32_t slot) override { snapshots_.at(slot).reset(); }
  void flush() override { TAMIS_CHECK(db_->flush().ok()); }
  void compact() override { TAMIS_CHECK(db_->compact().ok()); }
  void reopen() override {
    snapshots_ = {};
    TAMIS_CHECK(db_->close().ok());
    db_.reset();
    open();
  }

 private:
  void open() {
    Result<DB> opened = DB::open("/store", draw_options(draws_), {.files = &files_});
    TAMIS_CHECK(opened.ok());
    db_.emplace(*std::move(opened));
  }
  [[nodiscard]] const Snapshot* snapshot(std::optional<std::uint32_t> slot) const {
    return slot && snapshots_.at(*slot) ? &*snapshots_.at(*slot) : nullptr;
  }

  MemoryFileSystem files_;
  SplitMix64 draws_;
  std::optional<DB> db_;
  std::array<std::optional<Snapshot>, Operation::kSlots> snapshots_;  // Destroyed before the store.
};

}  // namespace

std::unique_ptr<PeerStore> make_tamis_peer(std::uint64_t seed) { return std::make_unique<TamisPeer>(seed); }

}  // namespace tamis::test
