#include <fmt/core.h>

#include <cstdlib>

#include "store/contestant.h"
#include "tamis/db.h"

namespace tamis::bench {
namespace {

void need(const Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "tamis: {}\n", status.to_text());
  std::exit(3);
}

class TamisContestant final : public StoreContestant {
 public:
  [[nodiscard]] std::string name() const override { return "tamis"; }

  void open(const std::string& directory) override {
    Options options;
    options.memory_bytes = std::uint64_t{4} << 30;
    options.memtable_bytes = std::uint64_t{64} << 20;
    Result<DB> opened = DB::open(directory, options);
    need(opened.status());
    db_.emplace(*std::move(opened));
  }
  void put(std::string_view key, std::string_view value) override { need(db_->put(key, value)); }
  void put_batch(std::span<const std::pair<std::string, std::string>> entries) override {
    batch_.clear();
    for (const auto& [key, value] : entries) batch_.put(key, value);
    need(db_->write(batch_));
  }
  void settle() override { need(db_->compact()); }
  bool get(std::string_view key, std::string& buffer) override {
    const Result<bool> found = db_->get(key, &buffer);
    need(found.status());
    return *found;
  }
  std::uint64_t scan(std::string_view from, std::size_t count) override {
    std::uint64_t bytes = 0;
    Iterator it = db_->scan({.from = from});
    for (; count > 0 && it.valid(); --count, it.next()) bytes += it.key().size() + it.value().size();
    need(it.status());
    return bytes;
  }
  void close() override {
    need(db_->close());
    db_.reset();
  }

 private:
  std::optional<DB> db_;
  Batch batch_;
};

}  // namespace

std::unique_ptr<StoreContestant> make_tamis() { return std::make_unique<TamisContestant>(); }

}  // namespace tamis::bench
