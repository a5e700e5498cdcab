// Calls every public class in its two empty states, default-constructed and moved-from. Every member function may be
// called and returns kClosed or the neutral answer that its header documents. tests/packaging/covered_test.py fails
// when a public member function is not called here.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <tamis/tamis.hpp>

#include <filesystem>
#include <utility>
#include <vector>

#include "io/memory_file_system.h"
#include "support/scratch_folder.h"
#include "support/source_file.h"

namespace tamis::test {
namespace {

constexpr StatusCode kClosed = StatusCode::kClosed;

/// Visits `T` default-constructed, then the result of `make` moved from by construction, moved from by assignment, and
/// self-assigned after that.
template <typename T, typename Make, typename Check>
void check_empty(Make make, Check check) {
  {
    SCOPED_TRACE("default-constructed");
    T empty;
    check(empty);
  }
  T object = make();
  {
    SCOPED_TRACE("moved from by construction; the new owner is gone");
    { const T taken(std::move(object)); }
    check(object);
  }
  {
    SCOPED_TRACE("moved from by assignment; the new owner is gone");
    object = make();
    {
      T taken = make();
      taken = std::move(object);
    }
    check(object);
  }
  {
    SCOPED_TRACE("an empty one was assigned");
    object = make();
    object = T();
    check(object);
  }
}

class EmptyHandles : public ::testing::Test {
 protected:
  DB open_store() {
    Result<DB> db = DB::open("/store" + std::to_string(++stores_), {}, {.files = &files_, .runs_in_background = false});
    EXPECT_TRUE(db.ok()) << db.status().to_text();
    EXPECT_TRUE(db->put("key", "a value that is too long to stand in a string").ok());
    return *std::move(db);
  }

  MemoryFileSystem files_;
  int stores_ = 0;
};

void check_empty_iterator(Iterator& it) {
  EXPECT_FALSE(it.valid());
  EXPECT_EQ(it.key(), "");
  EXPECT_EQ(it.value(), "");
  EXPECT_FALSE(it.expires_at());
  EXPECT_EQ(it.status().code(), kClosed);
  it.advance();
  it.next();
  it.previous();
  it.seek("key");
  it.seek_before("key");
  it.seek_to_first();
  it.seek_to_last();
  for (const auto& [key, value] : it) ADD_FAILURE() << key << value;
  EXPECT_EQ(it.status().code(), kClosed);
}

void check_closed(const std::vector<Status>& answers) {
  for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i].code(), kClosed) << "number " << i;
}

TEST_F(EmptyHandles, ADBAnswersClosed) {
  const auto check = [](DB& db) {
    Batch batch;
    batch.put("key", "value");
    std::string value = "before";
    check_closed({db.put("key", "value"), db.remove("key"), db.remove_range("a", "b"), db.merge("key", "1"),
                  db.write(batch), db.try_write(batch), db.sync(), db.flush(), db.compact(), db.wait_idle(),
                  db.set_option("memory_bytes", "1GiB"), db.resume(), db.checkpoint("/copy"), db.close()});
    check_closed({db.get("key").status(), db.get("key", &value).status(), db.exists("key").status(),
                  db.get_pinned("key").status(), db.verify().status(), db.approximate_size({}).status(),
                  db.explain("key").status(), db.catch_up().status()});
    EXPECT_EQ(value, "before");
    const std::vector<std::string_view> keys = {"a", "b", "c"};
    const std::vector<Result<std::optional<std::string>>> answers = db.multi_get(keys);
    ASSERT_EQ(answers.size(), 3U);
    check_closed({answers[0].status(), answers[1].status(), answers[2].status()});
    std::vector<std::optional<std::string>> values;
    EXPECT_EQ(db.multi_get(keys, &values).code(), kClosed);
    Iterator it = db.scan();
    check_empty_iterator(it);
    EXPECT_EQ(db.snapshot().sequence(), 0U);
    EXPECT_FALSE(db.begin().is_active());
    int runs = 0;
    const auto work = [&](Transaction&) { return ++runs, Status(); };
    check_closed({db.transact(work), db.put_if("key", "a", "b").status(), db.remove_if("key", "a").status(),
                  db.begin().commit()});
    EXPECT_EQ(runs, 0);
    EXPECT_EQ(db.keyspace("a").status().code(), kClosed);
    EXPECT_EQ(db.drop_keyspace("a").code(), kClosed);
    EXPECT_TRUE(db.keyspaces().empty());
    EXPECT_TRUE(db.stats().levels.empty());
    EXPECT_FALSE(db.writer_stats());
    EXPECT_TRUE(db.plan().runs.empty());
  };
  check_empty<DB>([&] { return open_store(); }, check);
}

TEST_F(EmptyHandles, AKeyspaceAnswersClosed) {
  DB db = open_store();
  const auto check = [](Keyspace& keyspace) {
    std::string value = "before";
    check_closed({keyspace.put("key", "value"), keyspace.remove("key"), keyspace.remove_range("a", "b"),
                  keyspace.merge("key", "1"), keyspace.compact(), keyspace.get("key").status(),
                  keyspace.get("key", &value).status(), keyspace.exists("key").status(),
                  keyspace.get_pinned("key").status(), keyspace.approximate_size({}).status(),
                  keyspace.explain("key").status(), keyspace.put_if("key", "a", "b").status(),
                  keyspace.remove_if("key", "a").status()});
    EXPECT_EQ(value, "before");
    EXPECT_EQ(keyspace.state(), nullptr);
    EXPECT_EQ(keyspace.store(), nullptr);
    const std::vector<std::string_view> keys = {"a", "b"};
    ASSERT_EQ(keyspace.multi_get(keys).size(), 2U);
    EXPECT_EQ(keyspace.multi_get(keys).back().status().code(), kClosed);
    std::vector<std::optional<std::string>> values;
    EXPECT_EQ(keyspace.multi_get(keys, &values).code(), kClosed);
    Iterator it = keyspace.scan();
    check_empty_iterator(it);
    EXPECT_EQ(keyspace.name(), "");
    EXPECT_EQ(keyspace.id(), 0U);
    Batch batch;
    batch.put(keyspace, "key", "value");
    batch.put(keyspace, "key", "value", std::chrono::minutes(1));
    batch.put(keyspace, "key", "value", std::chrono::system_clock::now());
    batch.remove(keyspace, "key");
    batch.remove_range(keyspace, "a", "b");
    batch.merge(keyspace, "key", "1");
    EXPECT_EQ(batch.status().code(), kClosed);
  };
  check_empty<Keyspace>([&] { return *db.keyspace("a"); }, check);
  EXPECT_TRUE(db.close().ok());
}

TEST_F(EmptyHandles, ATransactionAnswersClosed) {
  DB db = open_store();
  const Keyspace keyspace = *db.keyspace("a");
  const auto check = [&](Transaction& tx) {
    std::string value = "before";
    check_closed({tx.get("key").status(), tx.get("key", &value).status(), tx.exists("key").status(),
                  tx.get(keyspace, "key").status(), tx.get(keyspace, "key", &value).status(),
                  tx.exists(keyspace, "key").status(), tx.put("key", "value"), tx.put(keyspace, "key", "value"),
                  tx.remove("key"), tx.remove(keyspace, "key"), tx.remove_range("a", "b"),
                  tx.remove_range(keyspace, "a", "b"), tx.merge("key", "1"), tx.merge(keyspace, "key", "1"),
                  tx.write(Batch()), tx.savepoint().status(), tx.rollback_to(Savepoint()), tx.rollback(), tx.commit()});
    EXPECT_EQ(value, "before");
    const std::vector<std::string_view> keys = {"a", "b"};
    ASSERT_EQ(tx.multi_get(keys).size(), 2U);
    EXPECT_EQ(tx.multi_get(keys).back().status().code(), kClosed);
    EXPECT_EQ(tx.multi_get(keyspace, keys).back().status().code(), kClosed);
    Iterator it = tx.scan();
    check_empty_iterator(it);
    Iterator of_keyspace = tx.scan(keyspace);
    check_empty_iterator(of_keyspace);
    EXPECT_EQ(tx.sequence(), 0U);
    EXPECT_FALSE(tx.is_active());
  };
  check_empty<Transaction>([&] { return db.begin(); }, check);
  EXPECT_TRUE(db.close().ok()) << "those that were moved or assigned over have ended";
  const Keyspace none;
  DB other = open_store();
  Transaction tx = other.begin();
  check_closed({tx.get(none, "key").status(), tx.put(none, "key", "value"), tx.scan(none).status()});
}

TEST_F(EmptyHandles, AnIteratorStandsOnNoKeyAndIsClosed) {
  const DB db = open_store();
  check_empty<Iterator>([&] { return db.scan(); }, check_empty_iterator);
  Iterator::Cursor end;
  EXPECT_EQ((*end).key, "");
  EXPECT_TRUE(++end == std::default_sentinel);
}

TEST_F(EmptyHandles, ASnapshotCannotBeReadWith) {
  DB db = open_store();
  const auto check = [&](Snapshot& snapshot) {
    EXPECT_EQ(snapshot.sequence(), 0U);
    EXPECT_EQ(snapshot.state(), nullptr);
    EXPECT_EQ(db.get("key", {.snapshot = &snapshot}).status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(db.scan({.snapshot = &snapshot}).status().code(), StatusCode::kInvalidArgument);
  };
  check_empty<Snapshot>([&] { return db.snapshot(); }, check);
  EXPECT_TRUE(db.close().ok()) << "a snapshot that was moved from still counts";
}

TEST_F(EmptyHandles, APinnedValueIsAnEmptyView) {
  const DB db = open_store();
  const auto pin = [&] { return *std::move(*db.get_pinned("key")); };
  check_empty<PinnedValue>(pin, [](const PinnedValue& value) { EXPECT_EQ(value.view(), ""); });
}

TEST_F(EmptyHandles, ABatchIsEmptyAndUsable) {
  const auto check = [](Batch& batch) {
    EXPECT_TRUE(batch.empty());
    EXPECT_EQ(batch.size(), 0U);
    EXPECT_TRUE(batch.status().ok());
    EXPECT_TRUE(batch.begin() == batch.end());
    EXPECT_LT(batch.byte_size(), 16U);
    batch.clear();
    batch.put("a", "1");
    batch.remove("b");
    batch.append(batch);
    Batch other;
    batch.swap(other);
    swap(batch, other);
    ASSERT_EQ(batch.size(), 4U);
    EXPECT_EQ((*++batch.begin()).key, "b");
    batch.put("c", "3", std::chrono::minutes(1));
    batch.put("d", "4", std::chrono::system_clock::now());
    batch.remove_range("e", "f");
    batch.merge("g", "1");
    EXPECT_TRUE(batch.status().ok());
  };
  const auto make = [] {
    Batch batch;
    batch.put(std::string(Batch::kMaxKeyBytes + 1, 'k'), "refused");
    return batch;
  };
  check_empty<Batch>(make, check);
  const Batch::Iterator none;
  EXPECT_EQ((*none).key, "");
}

/// A missing filter costs time, never an answer (P4).
void check_maybe(const Filter& filter) {
  EXPECT_TRUE(filter.may_contain("short"));
  EXPECT_TRUE(filter.may_contain("a key of more than sixteen bytes"));
  EXPECT_TRUE(filter.may_contain_hash(42));
  EXPECT_TRUE(filter.may_contain_prefix("prefix"));
  filter.prefetch_hash(42);
  EXPECT_EQ(filter.hash("key"), 0U);
  for (const std::size_t count : {0U, 1U, 63U, 64U, 65U, 300U}) {
    const std::vector<std::string_view> keys(count, "key");
    const std::vector<std::uint64_t> hashes(count, 7);
    for (const bool by_hash : {false, true}) {
      std::vector<std::uint64_t> answers(count / 64 + 2, 0x5555);
      by_hash ? filter.may_contain_many(hashes, answers.data()) : filter.may_contain_many(keys, answers.data());
      for (std::size_t i = 0; i < (count + 63) / 64 * 64; ++i) {
        ASSERT_EQ(answers[i / 64] >> (i % 64) & 1, i < count ? 1U : 0U) << "bit " << i << " of " << count;
      }
      EXPECT_EQ(answers[(count + 63) / 64], 0x5555U) << "beyond the answers for " << count;
    }
  }
  EXPECT_TRUE(filter.info().kind.empty());
  EXPECT_EQ(filter.info().bytes, 0U);
  EXPECT_EQ(filter.info().estimated_rate, 1);
  EXPECT_TRUE(filter.bytes().empty());
  EXPECT_EQ(filter.save("/nowhere/filter").code(), kClosed);
  EXPECT_TRUE(filter.probe().may_contain(42));
  const Filter copy = filter;
  EXPECT_TRUE(copy.may_contain("key"));
}

Filter words(std::string_view prefix_rule) {
  FilterBuilder builder({.kind = "split", .bits_per_key = 10, .prefix_rule = *PrefixRule::parse(prefix_rule)});
  for (int i = 0; i < 1000; ++i) builder.add("word " + std::to_string(i));
  return *builder.finish();
}

TEST_F(EmptyHandles, P4_AFilterAnswersMaybeToEverything) {
  check_empty<Filter>([] { return words("none"); }, check_maybe);
  check_empty<Filter>([] { return words("first:6"); }, check_maybe);
}

TEST_F(EmptyHandles, P4_AMutableFilterAnswersMaybeAndDoesNotChange) {
  const auto make = [] {
    Result<MutableFilter> filter = MutableFilter::create({.kind = "counting", .capacity = 100});
    EXPECT_TRUE(filter.ok()) << filter.status().to_text();
    return *std::move(filter);
  };
  const auto check = [&](MutableFilter& filter) {
    EXPECT_TRUE(filter.may_contain("key"));
    EXPECT_TRUE(filter.may_contain_hash(42));
    EXPECT_EQ(filter.count_hash(42), 1U);
    EXPECT_TRUE(filter.part(0, 100).empty());
    MutableFilter full = make();
    check_closed({filter.add("key"), filter.add_hash(1), filter.remove("key").status(), filter.remove_hash(1).status(),
                  filter.merge(full), full.merge(filter), filter.intersect(full), full.intersect(filter),
                  filter.merge(filter), filter.save("/nowhere/filter")});
    filter.clear();
    EXPECT_TRUE(filter.may_contain("key"));
    EXPECT_EQ(filter.hash("key"), 0U);
    EXPECT_EQ(filter.estimated_keys(), 0);
    EXPECT_EQ(filter.estimated_rate(), 1);
    EXPECT_EQ(filter.fill(), 0);
    EXPECT_TRUE(filter.info().kind.empty());
    check_maybe(filter.freeze());
  };
  check_empty<MutableFilter>(make, check);
}

TEST_F(EmptyHandles, P4_AConcurrentFilterAnswersMaybeAndIgnoresKeys) {
  const auto make = [] { return *ConcurrentFilter::create({.kind = "split", .capacity = 100}); };
  check_empty<ConcurrentFilter>(make, [](ConcurrentFilter& filter) {
    filter.add("key");
    filter.add_hash(1);
    EXPECT_TRUE(filter.may_contain("other"));
    EXPECT_TRUE(filter.may_contain_hash(42));
    EXPECT_EQ(filter.hash("key"), 0U);
    EXPECT_EQ(filter.keys(), 0U);
    check_maybe(filter.freeze());
  });
}

TEST_F(EmptyHandles, P4_AFilterWindowAnswersMaybeAndIsClosed) {
  const auto make = [] { return *FilterWindow::create({.kind = "bloom", .capacity = 100}, std::chrono::hours(1)); };
  check_empty<FilterWindow>(make, [](FilterWindow& window) {
    check_closed({window.add("key", std::chrono::milliseconds(1))});
    EXPECT_TRUE(window.may_contain("key", std::chrono::milliseconds(1)));
    EXPECT_EQ(window.bytes(), 0U);
  });
}

TEST_F(EmptyHandles, P4_AMutableFilterFileAnswersMaybeAndIsClosed) {
  const ScratchFolder folder;
  int files = 0;
  const auto make = [&] { return *MutableFilterFile::create(folder.path(std::to_string(++files)), {.capacity = 100}); };
  check_empty<MutableFilterFile>(make, [](MutableFilterFile& file) {
    check_closed({file.add("key"), file.remove("key").status(), file.sync(), file.close()});
    EXPECT_TRUE(file.filter().may_contain("key"));
  });
}

TEST_F(EmptyHandles, ALevelDbFolderHasNoEntriesAndIsClosed) {
  const auto make = [] { return *LevelDbFolder::open(source_file("tests/golden/foreign/leveldb/folder")); };
  check_empty<LevelDbFolder>(make, [](LevelDbFolder& folder) {
    EXPECT_FALSE(folder.next());
    EXPECT_EQ(folder.key(), "");
    EXPECT_EQ(folder.value(), "");
    check_closed({folder.status(), folder.finish()});
    EXPECT_EQ(folder.tables() + folder.logs() + folder.bytes() + folder.bytes_read(), 0U);
    EXPECT_TRUE(folder.notes().empty());
  });
}

TEST_F(EmptyHandles, AFilterImportThatWasMovedFromHasNoPart) {
  MutableFilter filter = *MutableFilter::create({.kind = "counting", .capacity = 100});
  const auto make = [&] {
    FilterImport import;
    EXPECT_TRUE(import.add(filter.part(0, 1000)).ok());
    return import;
  };
  check_empty<FilterImport>(
      make, [](FilterImport& import) { EXPECT_EQ(import.finish().status().code(), StatusCode::kInvalidArgument); });
}

TEST_F(EmptyHandles, AFilterBuilderThatWasMovedFromIgnoresKeysAndIsClosed) {
  FilterBuilder builder({.kind = "split", .bits_per_key = 10});
  builder.add("key");
  FilterBuilder taken(std::move(builder));
  const auto check = [](FilterBuilder& empty) {
    empty.add("key");
    empty.add_hash(1);
    EXPECT_EQ(empty.hash("key"), 0U);
    EXPECT_EQ(empty.keys(), 0U);
    EXPECT_EQ(empty.finish().status().code(), kClosed);
  };
  check(builder);
  builder = std::move(taken);
  check(taken);
  EXPECT_EQ(builder.keys(), 1U);
  EXPECT_TRUE(builder.finish()->may_contain("key"));
}

TEST_F(EmptyHandles, P4_AForeignFilterAnswersMaybeToEverything) {
  const std::vector<std::string> keys = {"a", "b"};
  const Result<std::string> bytes = foreign::build(keys, {.format = "guava", .fpr = 0.01});
  ASSERT_TRUE(bytes.ok()) << bytes.status().to_text();
  const auto make = [&] {
    return *foreign::ForeignFilter::from_bytes(std::as_bytes(std::span(*bytes)), {.format = "guava"});
  };
  check_empty<foreign::ForeignFilter>(make, [](const foreign::ForeignFilter& filter) {
    EXPECT_TRUE(filter.may_contain("c"));
    EXPECT_TRUE(filter.info().format.empty());
    EXPECT_EQ(filter.info().estimated_rate, 1);
    EXPECT_EQ(filter.convert_to("sbbf").status().code(), kClosed);
  });
}

void check_no_entries(TableFile::Entries& entries) {
  EXPECT_FALSE(entries.next());
  EXPECT_EQ(entries.key(), "");
  EXPECT_EQ(entries.value(), "");
  EXPECT_FALSE(entries.apart().has_value());
  EXPECT_EQ(entries.expires_at(), std::nullopt);
  EXPECT_EQ(entries.sequence(), 0U);
  EXPECT_FALSE(entries.is_delete());
  EXPECT_FALSE(entries.is_merge());
  EXPECT_EQ(entries.status().code(), kClosed);
}

TEST_F(EmptyHandles, ATableFileListsNothingAndIsClosed) {
  const std::string folder = ::testing::TempDir() + fmt::format("tamis-empty-{}", getpid());
  Result<DB> db = DB::open(folder, {.filter = "none"});
  ASSERT_TRUE(db.ok() && db->put("key", "value").ok() && db->flush().ok() && db->close().ok());
  std::string path;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() == ".tms") path = file.path();
  }
  const auto make = [&] { return *TableFile::open(path); };
  check_empty<TableFile>(make, [](const TableFile& file) {
    EXPECT_TRUE(file.properties().empty());
    EXPECT_EQ(file.blocks(), 0U);
    check_closed({file.block(0).status(), file.verify().status()});
    TableFile::Entries entries = file.entries();
    check_no_entries(entries);
  });
  check_empty<TableFile::Entries>([&] { return make().entries(); }, check_no_entries);
  TableFile::Entries sound = make().entries();
  EXPECT_EQ(sound.key(), "") << "before the first";
  while (sound.next()) EXPECT_EQ(sound.key(), "key");
  EXPECT_EQ(sound.key(), "") << "after the last";
  std::filesystem::remove_all(folder);
}

/// Stepping beyond an end stays there.
TEST_F(EmptyHandles, AnIteratorBeyondItsRangeStaysThere) {
  const DB db = open_store();
  Iterator it = db.scan();
  for (int i = 0; i < 3; ++i) it.next();
  EXPECT_FALSE(it.valid());
  EXPECT_EQ(it.key(), "");
  EXPECT_EQ(it.value(), "");
  it.previous();
  EXPECT_TRUE(!it.valid() && it.status().ok());
  it.seek_to_first();
  EXPECT_EQ(it.key(), "key");
}

TEST_F(EmptyHandles, ReportsOfNothingHaveAText) {
  Stats stats;
  Explanation explanation;
  PlanReport plan;
  RepairReport repair;
  for (int round = 0; round < 2; ++round) {
    EXPECT_FALSE(stats.to_text().empty());
    EXPECT_FALSE(explanation.to_text().empty());
    EXPECT_FALSE(plan.to_text().empty());
    EXPECT_FALSE(repair.to_text().empty());
    for (const std::string& json : {stats.to_json(), explanation.to_json(), plan.to_json(), repair.to_json()}) {
      EXPECT_TRUE(json.starts_with('{') && json.ends_with('}')) << json;
    }
    const Stats taken(std::move(stats));
    const Explanation taken_explanation(std::move(explanation));
    const PlanReport taken_plan(std::move(plan));
    const RepairReport taken_repair(std::move(repair));
  }
  EXPECT_EQ(Status().to_text(), "ok");
  Status failed = Status::closed("gone");
  const Status taken(std::move(failed));
  EXPECT_TRUE(failed.ok() && failed.message().empty() && failed.code() == StatusCode::kOk);
  EXPECT_EQ(PrefixRule().to_text(), "none");
  EXPECT_EQ(PrefixRule().prefix_of("key"), "key");
  EXPECT_FALSE(PrefixRule().decides("key"));
  EXPECT_EQ(FilterSize().bound_ratio(), 0);
  EXPECT_EQ(FilterSize().bits_per_key(), 0);
  EXPECT_TRUE(VerifyReport().ok());
  EXPECT_FALSE(VerifyReport().to_text().empty());
  EXPECT_TRUE(VerifyReport().to_json().starts_with("{\"ok\": true"));
  EXPECT_TRUE(BucketReport().ok());
  EXPECT_FALSE(BucketReport().to_text().empty());
  EXPECT_TRUE(BucketReport().to_json().starts_with("{\"ok\": true"));
  EXPECT_TRUE(KeyspaceInfo().to_json().starts_with('{'));
}

}  // namespace
}  // namespace tamis::test
