
#include "store/contestant.h"
#include "store/process_facts.h"
#include "tamis/db.h"

namespace tamis::bench {
namespace {

void need(const Status& status) {
  if (!status.ok()) stop("tamis: " + status.to_text());
}

class TamisSession final : public Session {
 public:
  TamisSession(DB& db, bool fills_cache) : db_(db), reading_({.fills_cache = fills_cache}) {}

  void put(std::string_view key, std::string_view value, bool sync) override {
    need(db_.put(key, value, {.sync = sync}));
  }
  void put_batch(std::span<const Entry> entries, bool sync) override {
    batch_.clear();
    for (const Entry& entry : entries) batch_.put(entry.key, entry.value);
    need(db_.write(batch_, {.sync = sync}));
  }
  bool get(std::string_view key, std::string& buffer) override {
    const Result<bool> found = db_.get(key, &buffer, reading_);
    need(found.status());
    return *found;
  }
  [[nodiscard]] bool can_pin() const override { return true; }
  void get_pinned(std::string_view key, Tally& tally) override {
    const Result<std::optional<PinnedValue>> found = db_.get_pinned(key, reading_);
    need(found.status());
    if (*found) tally.add((*found)->view());
  }
  void multi_get(std::span<const std::string_view> keys, Tally& tally) override {
    need(db_.multi_get(keys, &values_, reading_));
    for (const std::optional<std::string>& value : values_) {
      if (value) tally.add(*value);
    }
  }
  void scan(std::string_view from, std::uint64_t count, Tally& tally) override {
    Iterator it = db_.scan({.from = from, .fills_cache = reading_.fills_cache});
    for (; count > 0 && it.valid(); --count, it.next()) tally.add(it.key(), it.value());
    need(it.status());
  }
  bool seek(std::string_view from, std::string& key) override {
    const Iterator it = db_.scan({.from = from});
    if (it.valid()) key.assign(it.key());
    need(it.status());
    return it.valid();
  }
  void remove(std::string_view key) override { need(db_.remove(key)); }
  bool remove_range(std::string_view from, std::string_view to) override {
    need(db_.remove_range(from, to));
    return true;
  }

 private:
  DB& db_;
  ReadOptions reading_;
  Batch batch_;
  std::vector<std::optional<std::string>> values_;
};

/// NAME=VALUE.
Status set(Options& options, const std::string& setting) {
  const std::size_t equals = std::min(setting.find('='), setting.size());
  return set_option(options, setting.substr(0, equals), setting.substr(std::min(equals + 1, setting.size())));
}

class TamisContestant final : public Contestant {
 public:
  explicit TamisContestant(std::string setting) : setting_(std::move(setting)) {}
  [[nodiscard]] std::string id() const override { return setting_.empty() ? "tamis" : "tamis:" + setting_; }
  [[nodiscard]] std::string name() const override { return setting_.empty() ? "tamis" : setting_; }
  [[nodiscard]] bool can_keep_runs() const override { return true; }
  [[nodiscard]] bool can_read_directly() const override { return true; }

  void open(const std::string& directory, const StoreShape& shape) override {
    Options options;
    options.memory_bytes = shape.memory_bytes;
    options.memtable_bytes = shape.memtable_bytes();
    if (shape.keeps_runs) {
      options.compaction = "manual";
      options.filter_memory = static_cast<std::uint64_t>(shape.bits_per_key * static_cast<double>(shape.entries) / 8);
    }
    options.direct_reads = shape.reads_directly;
    if (shape.has_large_values) options.value_bytes_apart = 4096;
    if (!setting_.empty()) need(set(options, setting_));
    is_cold_ = shape.is_cold;
    directory_ = directory;
    Result<DB> opened = DB::open(directory, options);
    need(opened.status());
    db_.emplace(*std::move(opened));
  }
  std::unique_ptr<Session> session() override { return std::make_unique<TamisSession>(*db_, !is_cold_); }
  void flush() override { need(db_->flush()); }
  void settle() override { need(db_->wait_idle()); }
  void compact() override { need(db_->compact()); }
  [[nodiscard]] std::optional<std::uint64_t> storage_reads() const override {
    std::uint64_t reads = 0;
    for (const Stats::Level& level : db_->stats().levels) reads += level.blocks_read;
    return reads;
  }
  [[nodiscard]] std::optional<double> own_write_amplification() const override {
    return db_->stats().write_amplification;
  }
  /// Journals that will be overwritten by the next ones.
  [[nodiscard]] std::uint64_t recycled_bytes() const override {
    const std::uint64_t journals = disk_bytes(directory_, ".journal") + disk_bytes(directory_, ".journal.tmp");
    const std::uint64_t needed = db_->stats().journal.bytes;
    return journals > needed ? journals - needed : 0;
  }
  void close() override {
    need(db_->close());
    db_.reset();
  }

 private:
  const std::string setting_;
  std::optional<DB> db_;
  bool is_cold_ = false;
  std::string directory_;
};

}  // namespace

std::unique_ptr<Contestant> make_tamis() { return std::make_unique<TamisContestant>(""); }

std::unique_ptr<Contestant> make_tamis_with(const std::string& setting) {
  return std::make_unique<TamisContestant>(setting);
}

Status check_setting(const std::string& setting) {
  Options options;
  return set(options, setting);
}

}  // namespace tamis::bench
