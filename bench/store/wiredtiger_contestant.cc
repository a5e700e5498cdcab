#include "store/contestant.h"

#ifndef TAMIS_HAS_WIREDTIGER

std::unique_ptr<tamis::bench::Contestant> tamis::bench::make_wiredtiger() { return nullptr; }

#else

#include <fmt/core.h>
#include <wiredtiger.h>

namespace tamis::bench {
namespace {

constexpr const char* kTable = "table:bench";

void need(int error) {
  if (error != 0) stop(fmt::format("wiredtiger: {}", wiredtiger_strerror(error)));
}

WT_ITEM item_of(std::string_view text) {
  WT_ITEM item = {};
  item.data = text.data();
  item.size = text.size();
  return item;
}
std::string_view view(const WT_ITEM& item) { return {static_cast<const char*>(item.data), item.size}; }

class WiredtigerSession final : public Session {
 public:
  explicit WiredtigerSession(WT_CONNECTION* connection) {
    need(connection->open_session(connection, nullptr, nullptr, &session_));
    need(session_->open_cursor(session_, kTable, nullptr, "raw,overwrite=true", &cursor_));
  }
  ~WiredtigerSession() override { session_->close(session_, nullptr); }
  WiredtigerSession(const WiredtigerSession&) = delete;
  WiredtigerSession& operator=(const WiredtigerSession&) = delete;

  /// Whether commits are synced was set when the store was opened.
  void put(std::string_view key, std::string_view value, bool /*sync*/) override {
    WT_ITEM at = item_of(key);
    WT_ITEM what = item_of(value);
    cursor_->set_key(cursor_, &at);
    cursor_->set_value(cursor_, &what);
    need(cursor_->insert(cursor_));
  }
  void put_batch(std::span<const Entry> entries, bool sync) override {
    need(session_->begin_transaction(session_, nullptr));
    for (const Entry& entry : entries) put(entry.key, entry.value, sync);
    need(session_->commit_transaction(session_, nullptr));
  }
  bool get(std::string_view key, std::string& buffer) override {
    return use_value(key, [&](std::string_view value) { buffer.assign(value); });
  }
  [[nodiscard]] bool can_pin() const override { return true; }
  void get_pinned(std::string_view key, Tally& tally) override {
    use_value(key, [&](std::string_view value) { tally.add(value); });
  }
  void scan(std::string_view from, std::uint64_t count, Tally& tally) override {
    int error = seek(from);
    for (; count > 0 && error == 0; --count, error = cursor_->next(cursor_)) {
      WT_ITEM key = {};
      WT_ITEM value = {};
      need(cursor_->get_key(cursor_, &key));
      need(cursor_->get_value(cursor_, &value));
      tally.add(view(key), view(value));
    }
    if (error != WT_NOTFOUND) need(error);
    need(cursor_->reset(cursor_));
  }
  bool seek(std::string_view from, std::string& key) override {
    const int error = seek(from);
    if (error != WT_NOTFOUND) {
      need(error);
      WT_ITEM found = {};
      need(cursor_->get_key(cursor_, &found));
      key.assign(view(found));
    }
    need(cursor_->reset(cursor_));
    return error == 0;
  }
  void remove(std::string_view key) override {
    WT_ITEM at = item_of(key);
    cursor_->set_key(cursor_, &at);
    need(cursor_->remove(cursor_));
  }

 private:
  /// While the cursor holds its page.
  template <typename Use>
  bool use_value(std::string_view key, const Use& use) {
    WT_ITEM at = item_of(key);
    cursor_->set_key(cursor_, &at);
    const int error = cursor_->search(cursor_);
    if (error == WT_NOTFOUND) return false;
    need(error);
    WT_ITEM value = {};
    need(cursor_->get_value(cursor_, &value));
    use(view(value));
    need(cursor_->reset(cursor_));
    return true;
  }
  /// It has no empty keys; a cursor that was reset begins at the first key.
  int seek(std::string_view from) {
    if (from.empty()) return cursor_->next(cursor_);
    WT_ITEM at = item_of(from);
    int direction = 0;
    cursor_->set_key(cursor_, &at);
    const int error = cursor_->search_near(cursor_, &direction);
    return error == 0 && direction < 0 ? cursor_->next(cursor_) : error;
  }

  WT_SESSION* session_ = nullptr;
  WT_CURSOR* cursor_ = nullptr;
};

/// A B-tree with 16 KB leaves and a log. Its storage reads are not counted.
class WiredtigerContestant final : public Contestant {
 public:
  [[nodiscard]] std::string id() const override { return "wiredtiger"; }
  [[nodiscard]] std::string name() const override {
    return fmt::format("WiredTiger {}.{}.{}" TAMIS_WIREDTIGER_BUILD, WIREDTIGER_VERSION_MAJOR, WIREDTIGER_VERSION_MINOR,
                       WIREDTIGER_VERSION_PATCH);
  }

  void open(const std::string& directory, const StoreShape& shape) override {
    directory_ = directory;
    settings_ = fmt::format("create,cache_size={}MB,log=(enabled=true),transaction_sync=(enabled={},method=fsync)",
                            shape.memory_bytes >> 20, shape.syncs);
    connect();
    WT_SESSION* session = nullptr;
    need(connection_->open_session(connection_, nullptr, nullptr, &session));
    need(session->create(session, kTable, "key_format=u,value_format=u,leaf_page_max=16KB"));
    need(session->close(session, nullptr));
  }
  std::unique_ptr<Session> session() override { return std::make_unique<WiredtigerSession>(connection_); }
  void flush() override {
    WT_SESSION* session = nullptr;
    need(connection_->open_session(connection_, nullptr, nullptr, &session));
    need(session->checkpoint(session, nullptr));
    need(session->close(session, nullptr));
  }
  void settle() override { flush(); }
  /// Puts since a page was read are in a skip list beside it until the page is read again.
  void compact() override {
    flush();
    close();
    connect();
  }
  void close() override { need(connection_->close(connection_, nullptr)); }

 private:
  void connect() { need(wiredtiger_open(directory_.c_str(), nullptr, settings_.c_str(), &connection_)); }

  std::string directory_;
  std::string settings_;
  WT_CONNECTION* connection_ = nullptr;
};

}  // namespace

std::unique_ptr<Contestant> make_wiredtiger() { return std::make_unique<WiredtigerContestant>(); }

}  // namespace tamis::bench

#endif
