// RocksDB and LevelDB have the same interface; Api names the types of one of them.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/check.h"
#include "oracle/peer_store.h"

namespace tamis::test {

/// Neither of them moves backwards past the start or within a prefix, so this class does it by comparing keys.
template <typename Api>
class ForeignWalk final : public PeerWalk {
 public:
  using Slice = typename Api::Slice;

  ForeignWalk(typename Api::Iterator* it, const Bounds& bounds)
      : it_(it), from_(bounds.prefix), is_reverse_(bounds.reverse) {
    if (bounds.from) from_ = std::max(from_, *bounds.from);
    std::string after = bounds.prefix;  // The first key after the prefix, if any.
    while (!after.empty() && after.back() == '\xff') after.pop_back();
    if (!after.empty()) ++after.back();
    if (!after.empty()) to_ = after;
    if (bounds.to) to_ = to_ ? std::min(*to_, *bounds.to) : *bounds.to;
    move({bounds.reverse ? Move::Kind::kLast : Move::Kind::kFirst, {}});
  }

  void move(const Move& move) override {
    switch (move.kind) {
      case Move::Kind::kNext: it_->Next(); break;
      case Move::Kind::kPrevious: it_->Prev(); break;
      case Move::Kind::kSeek:
        if (is_reverse_) {
          go_before(inside(move.key + '\0'));
        } else {
          it_->Seek(Slice(std::max(move.key, from_)));
        }
        break;
      case Move::Kind::kSeekBefore: go_before(inside(move.key)); break;
      case Move::Kind::kFirst: it_->Seek(Slice(from_)); break;
      case Move::Kind::kLast:
        if (to_) {
          go_before(*to_);
        } else {
          it_->SeekToLast();
        }
        break;
    }
    TAMIS_CHECK(it_->status().ok());
  }

  [[nodiscard]] Place place() const override {
    if (!it_->Valid()) return {};
    Place place({it_->key().ToString(), it_->value().ToString()});
    const bool is_inside = place->first >= from_ && (!to_ || place->first < *to_);
    return is_inside ? place : Place();
  }

 private:
  [[nodiscard]] std::string inside(const std::string& key) const { return to_ ? std::min(key, *to_) : key; }
  void go_before(const std::string& key) {
    it_->Seek(Slice(key));
    if (it_->Valid()) {
      it_->Prev();
    } else {
      it_->SeekToLast();
    }
  }

  std::unique_ptr<typename Api::Iterator> it_;
  std::string from_;
  std::optional<std::string> to_;
  bool is_reverse_;
};

template <typename Api>
class ForeignPeer : public PeerStore {
 public:
  ForeignPeer() : disk_(Api::make_disk()) { open(); }
  ~ForeignPeer() override { release_all(); }

  [[nodiscard]] std::string_view name() const override { return Api::kName; }
  void write(const std::vector<Change>& changes, bool syncs) override {
    typename Api::WriteBatch batch;
    for (const Change& change : changes) {
      if (change.is_put) {
        batch.Put(change.key, value_of(change));
      } else {
        batch.Delete(change.key);
      }
    }
    typename Api::WriteOptions options;
    options.sync = syncs;
    TAMIS_CHECK(db_->Write(options, &batch).ok());
  }
  std::optional<std::string> get(const std::string& key, std::optional<std::uint32_t> slot) override {
    std::string value;
    const auto status = db_->Get(read_options(slot), key, &value);
    TAMIS_CHECK(status.ok() || status.IsNotFound());
    return status.ok() ? std::optional(value) : std::nullopt;
  }
  std::vector<std::optional<std::string>> multi_get(const std::vector<std::string>& keys,
                                                    std::optional<std::uint32_t> slot) override {
    std::vector<std::optional<std::string>> values;
    for (const std::string& key : keys) values.push_back(get(key, slot));
    return values;
  }
  std::unique_ptr<PeerWalk> walk(const Bounds& bounds, std::optional<std::uint32_t> slot) override {
    return std::make_unique<ForeignWalk<Api>>(db_->NewIterator(read_options(slot)), bounds);
  }
  void take_snapshot(std::uint32_t slot) override {
    release(slot);
    snapshots_.at(slot) = db_->GetSnapshot();
  }
  void release(std::uint32_t slot) override {
    if (snapshots_.at(slot) != nullptr) db_->ReleaseSnapshot(std::exchange(snapshots_.at(slot), nullptr));
  }
  void flush() override { Api::flush(*db_); }
  void compact() override { Api::compact(*db_); }
  void reopen() override {
    release_all();
    db_.reset();
    open();
  }

 private:
  void open() {
    typename Api::DB* db = nullptr;
    auto options = Api::options();
    options.env = disk_.get();
    TAMIS_CHECK(Api::DB::Open(options, "/store", &db).ok());
    db_.reset(db);
  }
  void release_all() {
    for (std::uint32_t slot = 0; slot < snapshots_.size(); ++slot) release(slot);
  }
  [[nodiscard]] typename Api::ReadOptions read_options(std::optional<std::uint32_t> slot) const {
    typename Api::ReadOptions options;
    options.snapshot = slot ? snapshots_.at(*slot) : nullptr;
    return options;
  }

  const std::unique_ptr<typename Api::Env> disk_;
  std::unique_ptr<typename Api::DB> db_;
  std::array<const typename Api::Snapshot*, Operation::kSlots> snapshots_ = {};
};

}  // namespace tamis::test
