#include "crash/store_workload.h"

#include <fmt/core.h>

#include <array>
#include <cctype>
#include <utility>

#include "base/check.h"

namespace tamis::test {
namespace {

constexpr std::array<StoreScript, 21> kScripts = {{
    {"commits", "pPbBrRspPbfpBwRpbfPpWbrfspbBpfpPrcPbp"},
    {"journals in turn", "pbpfpPbfprpfPbpfBpfpbrfpPfbpfpp"},
    {"full memtables", "wPbwrWwbBpwPwbwpWcbwRwpwfwc", 64 << 10},
    {"tiers", "pbfPrfbwfpBfrpfbPfcpb", 256 << 10, "tiered"},
    {"a long manifest", "lLfcplfcLpflcbflcPflflcLflcpflcrflcLflcpflclflcLflcrf"},
    {"closed and opened", "pbPooprfbPopfRfopBfpfoocpobpo"},
    {"copied", "pbfPrfwpfpfbPkpBfcp"},
    {"copied without links", "pbfPrfbfpkpBfcpb", 256 << 10, "manual", false},
    {"deletes", "bbbfrrbfRrrfrrrfbcrrrrfrcp"},
    {"range deletes", "bbbfdbfDrfcdbpfodbDcfdpkdBdfc"},
    // Rule 7: after sixteen consecutive unsynced commits, the next are copied into a window of the journal.
    {"copied into a window", "pprpbpprppppbpppprppbpfppppppbpprpppppprpppbPpfcppppppppppbpppppppprpppopp"},
    {"keyspaces", "pmnqNqvnvqvnvvpvvnqfnqmNnqpcvnvvvqnvvvpxnqBkNfcqn", 192 << 10},
    {"keyspaces in turn", "mqNnfxmnfqfnNcxmonqmfnofqcxpNofmnqxc"},
    {"values apart", "wPbwrWwbBpwPfwbwpWcbwRwkpwfwcowpfWbfc", 64 << 10, "leveled", true, 16},
    {"values apart in tiers", "pbwfPrfbwfpBfrpfbPfcpbomqNnfxwWf", 128 << 10, "tiered", false, 500},
    {"values apart that go", "eEbfewdfhEhbDfcebfhhdwfcehfkdbEfhhhcdfc", 64 << 10, "leveled", true, 16},
    {"transactions", "ptTutmtTuNtfUtpTftcuTxtTfUcptT"},
    {"merges", "aAafabpaoraAfcaamNafnaofaracaAkbafaac"},
    {"expiry", "eEefhEhhhpebefhbehcEpfhhkeofhhpeEfrcohhepEefehhchhpebbbceeEfhhhhpspseefhhhhpPp"},
    {"ranges in transactions", "bbyfmYnyfqycnYkyuoyYfxyTmnYfyc"},
    {"conditional puts", "iIbifIpicirIfikIoifiIcpiIoi"},
}};

constexpr std::uint64_t kHour = 3'600'000;

std::string padded(std::string text, std::size_t bytes) {
  while (text.size() < bytes) text += static_cast<char>('a' + text.size() % 23);
  return text;
}

}  // namespace

std::span<const StoreScript> store_scripts() { return kScripts; }

Options options_of(const StoreScript& script) {
  Options options;
  options.memory_bytes = 4 << 20;
  options.memtable_bytes = script.memtable_bytes;
  options.block_bytes = 1024;
  options.table_bytes = 64 << 10;
  options.fanout = 2;
  options.compaction = script.compaction;
  options.merge_operator = "append";
  options.value_bytes_apart = script.value_bytes_apart;
  options.background_threads = 2;  // Without threads: large compactions are divided in two.
  return options;
}

Environment environment_on(FileSystem& files, std::uint64_t seed) {
  return {.files = &files, .random_seed = seed, .runs_in_background = false};
}

Environment environment_on(FileSystem& files, std::uint64_t seed, const StoreLedger& ledger) {
  Environment environment = environment_on(files, seed);
  environment.unix_milliseconds = [&ledger] { return ledger.now(); };
  environment.uptime_milliseconds = [&ledger] { return ledger.uptime(); };
  return environment;
}

void StoreWorkload::run() {
  if (Status opened = open(); !opened.ok()) {
    errors_.push_back(std::move(opened));
    return;
  }
  if (Status found = find_newest_keyspace(); !found.ok()) errors_.push_back(std::move(found));
  for (const char what : script_.steps) {
    const Status done = step(what);
    if (!done.ok()) errors_.push_back(done);
    if (!db_) return;
    if (observer_) observer_(*db_, done);
  }
}

Status StoreWorkload::open() {
  Environment environment = environment_on(files_, remix(seed_) + openings_++, ledger_);
  environment.listener = &events_;
  Options options = options_of(script_);
  options.create_if_missing = !ledger_.is_created();
  Result<DB> opened = DB::open(std::string(kStore), options, environment);
  if (!opened.ok()) return opened.status();
  db_.emplace(*std::move(opened));
  ledger_.created();
  return {};
}

Status StoreWorkload::step(char what) {
  switch (what) {
    case 's':
    case 'f':
    case 'c': {
      Status done = what == 's' ? db_->sync() : what == 'f' ? db_->flush() : compact();
      if (done.ok()) ledger_.all_durable();
      return done;
    }
    case 'k': {
      ledger_.begins_checkpoint();
      Status copied = db_->checkpoint(std::string(kCopy));
      if (copied.ok()) {
        ledger_.all_durable();
        ledger_.checkpoint_made();
      }
      return copied;
    }
    case 'o': return reopen();
    case 'h': ledger_.set_clock(ledger_.now() + kHour); return {};
    case 'm': return make_keyspace();
    case 'x': return drop_keyspace();
    case 't':
    case 'T':
    case 'u':
    case 'U':
    case 'y':
    case 'Y': return run_transaction(what);
    case 'i':
    case 'I': return put_if(what == 'I');
    default: return write(what);
  }
}

Status StoreWorkload::write(char what) {
  const bool syncs = std::isupper(what) != 0;
  const Batch batch = make_batch(static_cast<char>(std::tolower(what)));
  if (batch.empty()) return {};  // Of a keyspace that could not be made. It would not be a commit.
  return commit(batch, syncs);
}

Status StoreWorkload::commit(const Batch& batch, bool syncs) {
  ledger_.tries(batch);
  Status written = db_->write(batch, {.sync = syncs});
  if (written.ok()) ledger_.acknowledged(syncs);
  return written;
}

/// Whole or absent like a batch. One that conflicts is no commit: no state of the ledger has it.
Status StoreWorkload::run_transaction(char what) {
  const bool syncs = std::isupper(what) != 0;
  const auto kind = static_cast<char>(std::tolower(what));
  const std::string read_key = some_key();
  const Batch batch = make_batch(kind == 'y' ? kind : newest_.name().empty() ? 'b' : 'n');
  Transaction tx = db_->begin();
  if (const Result<bool> read = tx.exists(read_key); !read.ok()) return read.status();
  {
    Iterator it = tx.scan({.to = "k"});
    while (it.valid()) it.advance();
    if (!it.status().ok()) return it.status();
  }
  if (Status added = tx.write(batch); !added.ok()) return added;
  if (kind == 'u') {
    Batch other;
    other.put(read_key, padded(fmt::format("v{}", ++values_), 30));
    if (Status written = commit(other, syncs); !written.ok()) return written;
    Status refused = tx.commit({.sync = syncs});
    if (refused.code() == StatusCode::kConflict) return {};
    if (refused.ok()) violations_.push_back("a transaction committed although what it read was overwritten");
    return refused;
  }
  ledger_.tries(batch);
  Status committed = tx.commit({.sync = syncs});
  if (committed.ok()) ledger_.acknowledged(syncs);
  return committed;
}

/// One that finds another value than it expects is no commit.
Status StoreWorkload::put_if(bool syncs) {
  const std::string key = some_key();
  Batch batch;
  batch.put(key, padded(fmt::format("{}.", ++values_), 30));
  const std::string value((*batch.begin()).value);
  const Result<std::optional<std::string>> before = db_->get(key);
  if (!before.ok()) return before.status();
  const Result<bool> refused = db_->put_if(key, "what no key has", value, {.sync = syncs});
  if (!refused.ok()) return refused.status();
  if (*refused) violations_.emplace_back("a conditional put of a key with another value");
  ledger_.tries(batch);
  const Result<bool> written = db_->put_if(key, *before, value, {.sync = syncs});
  if (!written.ok()) return written.status();
  if (!*written) violations_.emplace_back("no conditional put although nobody changed the key");
  ledger_.acknowledged(syncs);
  return {};
}

Status StoreWorkload::make_keyspace() {
  const std::string name = fmt::format("k{}", ++made_keyspaces_);
  ledger_.tries_keyspace(name);
  Result<Keyspace> made = db_->keyspace(name);
  if (!made.ok()) return made.status();
  ledger_.made_keyspace(name, made->id());
  newest_ = *std::move(made);
  return {};
}

Status StoreWorkload::drop_keyspace() {
  const std::string name(newest_.name());
  if (name.empty()) return {};  // Making it failed.
  ledger_.tries_keyspace(name);
  if (Status dropped = db_->drop_keyspace(name); !dropped.ok()) return dropped;
  ledger_.dropped_keyspace(name);
  return find_newest_keyspace();
}

Status StoreWorkload::find_newest_keyspace() {
  const std::vector<KeyspaceInfo> infos = db_->keyspaces();
  newest_ = {};
  if (infos.back().id == 0) return {};
  Result<Keyspace> found = db_->keyspace(infos.back().name);
  if (!found.ok()) return found.status();
  newest_ = *std::move(found);
  ledger_.made_keyspace(infos.back().name, infos.back().id);
  return {};
}

Status StoreWorkload::compact() {
  Status done = db_->compact();
  return !done.ok() || newest_.id() == 0 ? done : newest_.compact();
}

/// Recovery finds what was there; after errors, what a restarted process would find.
Status StoreWorkload::reopen() {
  newest_ = {};
  Status closed = db_->close();
  if (closed.ok()) ledger_.all_durable();
  db_.reset();
  if (Status opened = open(); !opened.ok()) return opened;
  Content found;
  const std::string unread = read_all(*db_, {}, found);
  if (!unread.empty()) {
    // The store's content is unknown from here on.
    db_.reset();
    return Status::io_error(unread);
  }
  if (const std::string wrong = ledger_.check(found, Crash::kProcess); !wrong.empty()) {
    violations_.push_back("after close and open: " + wrong);
  }
  if (!closed.ok() || found != ledger_.current()) ledger_.settle(std::move(found));
  if (Status newest = find_newest_keyspace(); !newest.ok()) return newest;
  return closed;
}

Batch StoreWorkload::make_batch(char what) {
  static constexpr std::array<std::size_t, 6> kValueBytes = {0, 1, 30, 100, 400, 900};
  const auto value = [&] {
    const std::size_t bytes = kValueBytes[random_.below(kValueBytes.size())];
    return bytes == 0 ? std::string() : padded(fmt::format("{}.", ++values_), bytes);
  };
  Batch batch;
  switch (what) {
    case 'p': batch.put(some_key(), value()); break;
    case 'r': batch.remove(some_key()); break;
    case 'v': batch.put(some_key(), padded(fmt::format("{}.", ++values_), 20'000)); break;
    case 'q':
    case 'n':
      if (what == 'n') batch.put(some_key(), value());
      if (newest_.id() != 0) batch.put(newest_, some_key(), value());
      if (newest_.id() != 0 && random_.below(3) == 0) batch.remove(newest_, some_key());
      break;
    case 'y': remove_range_of_newest(batch); [[fallthrough]];
    case 'd': {
      std::string from = some_key();
      std::string to = some_key();
      if (to < from) std::swap(from, to);
      batch.put(from, value());
      batch.remove_range(from, to);
      if (from != to) batch.put(from, value());
      break;
    }
    case 'w': batch.put(some_key(), padded(fmt::format("{}.", ++values_), 5000)); break;
    case 'l': batch.put(padded(fmt::format("{}", random_.below(10)), 6000), value()); break;
    case 'a':
      for (std::uint64_t left = 1 + random_.below(4); left > 0; --left) {
        batch.merge(some_key(), fmt::format("+{}", ++values_));
        if (newest_.id() != 0) batch.merge(newest_, some_key(), fmt::format("+{}", ++values_));
      }
      break;
    case 'e':
      for (std::uint64_t left = 1 + random_.below(3); left > 0; --left) {
        batch.put(some_key(), value(), std::chrono::milliseconds((1 + 2 * random_.below(4)) * kHour / 2));
      }
      break;
    case 'b':
      for (std::uint64_t left = 2 + random_.below(4); left > 0; --left) {
        if (random_.below(4) == 0) {
          batch.remove(some_key());
        } else {
          batch.put(some_key(), value());
        }
      }
      break;
    default: TAMIS_CHECK(false);
  }
  return batch;
}

/// Every other one has no end.
void StoreWorkload::remove_range_of_newest(Batch& batch) {
  if (newest_.id() == 0) return;
  std::string from = some_key();
  std::string to = some_key();
  if (to < from) std::swap(from, to);
  batch.remove_range(newest_, from, random_.coin() ? std::nullopt : std::optional<std::string_view>(to));
  batch.put(newest_, some_key(), fmt::format("{}.", ++values_));
}

std::string StoreWorkload::some_key() {
  const std::uint64_t number = random_.below(30);
  if (number == 0) return {};
  if (number == 1) return padded("long", 300);
  return fmt::format("{}{:02}", number < 10 ? "key" : "the same first bytes ", number);
}

}  // namespace tamis::test
