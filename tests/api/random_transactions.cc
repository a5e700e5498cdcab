#include "api/random_transactions.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <thread>

#include "entry/batch_format.h"
#include "entry/range_tombstones.h"
#include "io/file_names.h"
#include "journal/journal_reader.h"
#include "support/transaction_history.h"

namespace tamis::test {
namespace {

constexpr std::uint32_t kKeys = 10;
constexpr std::uint32_t kKeyspaces = 3;
/// Before the number of the writer: the first key that is written by all that deletes. Deletes have no value that names
/// their writer.
constexpr char kMarker = '!';

std::string key_name(std::uint64_t number) { return fmt::format("k{}", number); }

/// Of few keys; one in eight has no end.
KeyRange random_range(SplitMix64& random) {
  const std::uint64_t from = random.below(kKeys);
  if (random.below(8) == 0) return {key_name(from), std::nullopt};
  return {key_name(from), key_name(from + 1 + random.below(3))};
}

std::uint32_t writer_of(std::string_view value) {
  std::uint32_t id = 0;
  std::from_chars(value.data(), value.data() + value.size(), id);
  return id;
}

}  // namespace

/// One transaction, and what it expects of its own reads.
class RandomTransactions::Running {
 public:
  Running(RandomTransactions& world, std::uint32_t id, SplitMix64& random)
      : world_(world), random_(random), tx_(world.db_.begin({.isolation = world.isolation_, .max_read_bytes = 2000})) {
    done_.id = id;
    done_.snapshot = tx_.sequence();
    if (!tx_.put(fmt::format("{}{}", kMarker, id), fmt::format("{}", id)).ok()) world_.fail("the marker was refused");
  }

  void step() {
    const std::uint64_t choice = random_.below(100);
    if (choice < 35) return get();
    if (choice < 50) return scan();
    if (choice < 78) return write(true);
    if (choice < 88) return write(false);
    if (choice < 92) return remove_range();
    if (choice < 97) return save();
    roll_back();
  }
  /// Whether it committed.
  bool finish() {
    if (random_.below(10) == 0) return tx_.rollback().ok() && false;
    const Status committed = tx_.commit();
    if (committed.ok()) return true;
    if (committed.code() == StatusCode::kConflict) {
      ++conflicts_;
    } else {
      world_.fail(committed.to_text());
    }
    return false;
  }
  Done& done() { return done_; }
  [[nodiscard]] std::uint64_t conflicts() const { return conflicts_; }

 private:
  Key random_key() { return {static_cast<std::uint32_t>(random_.below(kKeyspaces)), key_name(random_.below(kKeys))}; }
  Keyspace& in(const Key& key) { return world_.keyspaces_[key.first]; }

  void get() {
    const Key key = random_key();
    const Result<Value> value = tx_.get(in(key), key.second);
    if (!value.ok()) return world_.fail(value.status().to_text());
    was_read(key, *value);
  }
  void was_read(const Key& key, const Value& value) {
    const auto own = done_.writes.find(key);
    if (own != done_.writes.end()) {
      if (own->second != value) world_.fail("an own write was not read: " + key.second);
      return;
    }
    const auto [before, is_new] = done_.reads.emplace(key, value);
    if (!is_new && before->second != value) world_.fail("two reads differ: " + key.second);
  }
  void scan() {
    const auto keyspace = static_cast<std::uint32_t>(random_.below(kKeyspaces));
    std::string from = key_name(random_.below(kKeys));
    std::string to = key_name(random_.below(kKeys) + 1);
    if (from > to) std::swap(from, to);
    const bool is_reverse = random_.coin();
    std::uint64_t left = random_.below(6) + 1;
    std::map<std::string, std::string> seen;
    bool is_at_end = false;
    {
      Iterator it = tx_.scan(world_.keyspaces_[keyspace], {.from = from, .to = to, .reverse = is_reverse});
      for (; it.valid() && left > 0; --left) {
        seen.emplace(it.key(), it.value());
        if (left > 1) it.advance();
      }
      is_at_end = !it.valid();
      if (!it.status().ok()) world_.fail(it.status().to_text());
    }
    if (!is_at_end) (is_reverse ? from : to) = is_reverse ? seen.begin()->first : seen.rbegin()->first + '\0';
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      const std::string name = key_name(i);
      if (name < from || name >= to) continue;
      const auto found = seen.find(name);
      was_read({keyspace, name}, found == seen.end() ? Value() : Value(found->second));
    }
  }
  void write(bool is_put) {
    const Key key = random_key();
    Value value;
    if (is_put) value = fmt::format("{}.{}", done_.id, ++values_);
    const Status written = is_put ? tx_.put(in(key), key.second, *value) : tx_.remove(in(key), key.second);
    if (!written.ok()) return world_.fail(written.to_text());
    done_.writes[key] = value;
  }
  void remove_range() {
    const auto keyspace = static_cast<std::uint32_t>(random_.below(kKeyspaces));
    const KeyRange range = random_range(random_);
    if (!tx_.remove_range(world_.keyspaces_[keyspace], range.from, range.to).ok()) world_.fail("a range was refused");
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      if (range.contains(key_name(i))) done_.writes[{keyspace, key_name(i)}] = std::nullopt;
    }
  }
  void save() {
    saved_ = *tx_.savepoint();
    saved_writes_ = done_.writes;
  }
  void roll_back() {
    if (!saved_) return;
    if (!tx_.rollback_to(*saved_).ok()) return world_.fail("a savepoint was refused");
    done_.writes = saved_writes_;
  }

  RandomTransactions& world_;
  SplitMix64& random_;
  Transaction tx_;
  Done done_;
  int values_ = 0;
  std::optional<Savepoint> saved_;
  std::map<Key, Value> saved_writes_;
  std::uint64_t conflicts_ = 0;
};

/// Small memtables are flushed meanwhile. The keyspace "anchor" is written once and keeps all journals, as long as they
/// have less than four memtables.
RandomTransactions::RandomTransactions(Isolation isolation, std::uint64_t seed) : isolation_(isolation), seed_(seed) {
  const Options options{.memory_bytes = 8 << 20, .memtable_bytes = 1 << 20};
  db_ = *DB::open("/store", options, {.files = &files_});
  for (const char* name : {"default", "a", "b"}) keyspaces_.push_back(*db_.keyspace(name));
  if (!db_.keyspace("anchor")->put("anchor", "").ok()) fail("the anchor was refused");
}

void RandomTransactions::fail(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = what;
}

void RandomTransactions::run(int threads, int transactions_per_thread) {
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back([=, this] { run_thread(i, transactions_per_thread); });
  for (std::thread& thread : running) thread.join();
}

void RandomTransactions::run_thread(int thread, int transactions) {
  SplitMix64 random(seed_ + static_cast<std::uint64_t>(thread) * 1'000'003);
  std::vector<Done> done;
  std::uint64_t conflicts = 0;
  for (int i = 0; i < transactions; ++i) {
    const auto id = static_cast<std::uint32_t>(thread * transactions + i + 1);
    if (random.below(20) == 0) {
      write_outside(id, random);
      continue;
    }
    Running running(*this, id, random);
    for (std::uint64_t steps = random.below(6) + 1; steps > 0; --steps) {
      running.step();
      if (random.below(4) == 0) std::this_thread::yield();
    }
    if (running.finish()) done.push_back(std::move(running.done()));
    conflicts += running.conflicts();
  }
  const std::lock_guard lock(mutex_);
  committed_ += done.size();
  conflicts_ += conflicts;
  std::ranges::move(done, std::back_inserter(done_));
}

void RandomTransactions::write_outside(std::uint32_t id, SplitMix64& random) {
  Keyspace& in = keyspaces_[random.below(kKeyspaces)];
  const std::string key = key_name(random.below(kKeys));
  if (random.coin()) {
    if (!in.put(key, fmt::format("{}.1", id)).ok()) fail("a put was refused");
    return;
  }
  Batch batch;
  batch.put(fmt::format("{}{}", kMarker, id), fmt::format("{}", id));
  batch.put(in, key, fmt::format("{}.1", id));
  batch.remove(keyspaces_[random.below(kKeyspaces)], key_name(random.below(kKeys)));
  if (random.coin()) {
    const KeyRange range = random_range(random);
    batch.remove_range(keyspaces_[random.below(kKeyspaces)], range.from, range.to);
  }
  if (!db_.write(batch).ok()) fail("a batch was refused");
}

/// All versions of all keys, in the order of the journals.
bool RandomTransactions::load_versions() {
  std::vector<std::string> journals;
  const std::vector<DirectoryEntry> entries = *files_.list("/store");
  for (const DirectoryEntry& entry : entries) {
    if (entry.name.ends_with(".journal")) journals.push_back("/store/" + entry.name);
  }
  std::ranges::sort(journals);
  std::uint64_t next = 1;
  std::uint32_t marked = 0;
  for (const std::string& path : journals) {
    Result<JournalReader> reader = JournalReader::open(files_, path);
    if (!reader.ok()) return false;
    while (true) {
      const Result<std::optional<JournalRecord>> record = reader->next();
      if (!record.ok()) return false;
      if (!*record) break;
      const Sequence first{(*record)->first_sequence};
      const Result<BatchView> batch = BatchView::decode((*record)->payload, first, path);
      if (!batch.ok() || (*record)->first_sequence != next) return false;
      next += batch->size();
      for (BatchView::Iterator it = batch->begin(); it != batch->end(); ++it) {
        if (it->key.starts_with(kMarker)) {
          marked = writer_of(it->value);
          continue;
        }
        add_versions(number_of(it.keyspace()), *it, marked);
      }
    }
  }
  return next == db_.stats().sequence + 1;
}

/// A range delete is a version of every key in it.
void RandomTransactions::add_versions(std::uint32_t keyspace, const Entry& entry, std::uint32_t marked) {
  const std::uint64_t sequence = number_of(entry.sequence);
  const std::string key(entry.key);
  if (entry.kind == EntryKind::kPut) {
    versions_[{keyspace, key}].push_back({sequence, writer_of(entry.value), std::string(entry.value)});
  } else if (entry.kind == EntryKind::kDelete) {
    versions_[{keyspace, key}].push_back({sequence, marked, std::nullopt});
  } else {
    const KeyRange range = range_tombstone_of(entry).range;
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      if (!range.contains(key_name(i))) continue;
      versions_[{keyspace, key_name(i)}].push_back({sequence, marked, std::nullopt});
      ++removed_by_range_;
    }
  }
}

std::size_t RandomTransactions::versions_until(const Key& key, std::uint64_t sequence) const {
  const auto found = versions_.find(key);
  if (found == versions_.end()) return 0;
  const auto end = std::ranges::upper_bound(found->second, sequence, {}, &Version::sequence);
  return static_cast<std::size_t>(end - found->second.begin());
}

/// Each read is that of its snapshot.
std::string RandomTransactions::check_reads(const Done& done) const {
  for (const auto& [key, value] : done.reads) {
    const std::size_t versions = versions_until(key, done.snapshot);
    const Value wanted = versions == 0 ? Value() : versions_.at(key)[versions - 1].value;
    if (value == wanted) continue;
    return fmt::format("{} read '{}' as {} at {}, which was {}", done.id, key.second, value.value_or("absent"),
                       done.snapshot, wanted.value_or("absent"));
  }
  return {};
}

/// Its last writes are in the journal, and with snapshot isolation nobody else wrote these keys since its begin.
std::string RandomTransactions::check_writes(const Done& done) const {
  for (const auto& [key, value] : done.writes) {
    const auto found = versions_.find(key);
    if (found == versions_.end()) return fmt::format("{} wrote '{}', and nothing is there", done.id, key.second);
    const std::vector<Version>& versions = found->second;
    const auto own = std::find_if(versions.rbegin(), versions.rend(),
                                  [&](const Version& version) { return version.writer == done.id; });
    if (own == versions.rend() || own->value != value) {
      return fmt::format("{} wrote '{}', which is lost", done.id, key.second);
    }
    if (isolation_ == Isolation::kSerializable) continue;
    const auto since = versions.begin() + static_cast<std::ptrdiff_t>(versions_until(key, done.snapshot));
    for (auto version = since; version->sequence < own->sequence; ++version) {
      if (version->writer == done.id) continue;
      return fmt::format("{} and {} both wrote '{}'", done.id, version->writer, key.second);
    }
  }
  return {};
}

std::string RandomTransactions::find_cycle() const {
  TransactionHistory history;
  const auto name = [](const Key& key) { return fmt::format("{}/{}", key.first, key.second); };
  for (const auto& [key, versions] : versions_) {
    if (key.second.starts_with(kMarker)) continue;
    for (const Version& version : versions) history.add_write(name(key), version.writer);
  }
  for (const Done& done : done_) {
    for (const auto& [key, value] : done.reads) {
      history.add_read(name(key), versions_until(key, done.snapshot), done.id);
    }
  }
  return history.find_cycle();
}

std::string RandomTransactions::check() {
  if (!failure_.empty()) return failure_;
  keyspaces_.clear();
  const bool is_loaded = load_versions();
  if (!is_loaded) return "the journals do not have all writes";
  for (const Done& done : done_) {
    if (std::string wrong = check_reads(done); !wrong.empty()) return wrong;
    if (std::string wrong = check_writes(done); !wrong.empty()) return wrong;
  }
  if (removed_by_range_ == 0) return "no range was removed";
  return isolation_ == Isolation::kSerializable ? find_cycle() : std::string();
}

}  // namespace tamis::test
