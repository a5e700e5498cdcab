#include "tree/manifest.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "io/file_names.h"
#include "io/posix_file_system.h"
#include "journal/journal_reader.h"
#include "journal/journal_writer.h"
#include "support/crash_file_system.h"
#include "support/golden.h"
#include "support/manifest_text.h"
#include "tree/current_format.h"
#include "tree/manifest_format.h"

namespace tamis {
namespace {

const std::string kStore = "/store";

using test::SeededRandom;
using test::text_of;

TableIdentity example_identity() {
  TableIdentity identity;
  identity.store_id.fill(std::byte{0x5a});
  identity.hash_key.fill(std::byte{0xa5});
  return identity;
}

ManifestEdit adds_table(std::uint64_t number, std::size_t key_bytes = 5) {
  TableFacts facts;
  facts.number = number;
  facts.file_bytes = 4096;
  facts.entries = 100;
  facts.keys = 90;
  facts.smallest_key = std::string(key_bytes, 'a');
  facts.largest_key = std::string(key_bytes, 'z');
  facts.largest_sequence = Sequence{number * 100};
  KeyspaceEdit change;
  change.shape.added.push_back({0, number, std::make_shared<const TableFacts>(facts)});
  change.flushed_sequence = number * 100;
  ManifestEdit edit = edit_of(kDefaultKeyspace, std::move(change));
  edit.reserved_numbers = number + 1;
  return edit;
}

ManifestEdit replaces_table(std::uint64_t removed, std::uint64_t added, std::size_t key_bytes) {
  ManifestEdit edit = adds_table(added, key_bytes);
  edit.keyspaces.at(kDefaultKeyspace).shape.removed.push_back(removed);
  return edit;
}

ManifestEdit creates_keyspaces() {
  ManifestEdit edit;
  edit.keyspaces[KeyspaceId{1}].created = {.name = "users", .options = "codec=zstd\nblock_bytes=8192\n"};
  edit.keyspaces[KeyspaceId{2}].created = {.name = "events", .options = ""};
  return edit;
}

/// Something of everything that an edit can do.
ManifestEdit replaces_table_and_changes_keyspaces() {
  ManifestEdit edit = replaces_table(1, 2, 5);
  edit.keyspaces[KeyspaceId{2}] = adds_table(3).keyspaces.at(kDefaultKeyspace);
  edit.keyspaces[KeyspaceId{3}].created = {.name = "sessions", .options = ""};
  edit.dropped = {KeyspaceId{1}};
  edit.reserved_numbers = 4;
  edit.first_journal = 2;
  edit.term = 1;
  return edit;
}

/// An in-memory folder with a manifest.
class ManifestTest : public testing::Test {
 protected:
  ManifestTest() { EXPECT_TRUE(files_.make_directory(kStore).ok()); }

  void create() { manifest_ = *Manifest::create(files_, kStore, example_identity(), random_); }
  void open() { manifest_ = *Manifest::open(files_, kStore, random_); }
  Status try_open() { return Manifest::open(files_, kStore, random_).status(); }
  void commit(const ManifestEdit& edit) {
    const Status status = manifest_->commit(edit);
    ASSERT_TRUE(status.ok()) << status.to_text();
  }
  const Shape& shape() { return manifest_->state().keyspaces.at(kDefaultKeyspace).shape; }
  std::vector<std::string> names() {
    std::vector<std::string> names;
    const std::vector<DirectoryEntry> entries = *files_.list(kStore);
    for (const DirectoryEntry& entry : entries) names.push_back(entry.name);
    return names;
  }
  Current current() { return *decode_current(as_bytes(read(kStore + "/CURRENT")), "CURRENT"); }
  JournalHeader header() {
    return (*JournalReader::open(files_, manifest_path(kStore, current().manifest_number))).header();
  }
  std::string read(const std::string& path) { return *read_whole_file(files_, path); }
  void write(const std::string& path, const std::string& text) {
    const auto file = *files_.open_writable(path, OpenMode::kReplace);
    const Bytes bytes = as_bytes(text);
    ASSERT_TRUE(file->write_at(0, std::span(&bytes, 1)).ok());
  }

  CrashFileSystem files_;
  SeededRandom random_{1};
  std::unique_ptr<Manifest> manifest_;
};

using Names = std::vector<std::string>;

TEST_F(ManifestTest, ANewStoreIsEmptyAndHasItsIdentity) {
  EXPECT_EQ(try_open().code(), StatusCode::kIoError) << "no store is here";
  create();
  EXPECT_EQ(names(), (Names{"CURRENT", "MANIFEST-000001"}));
  open();
  EXPECT_EQ(manifest_->state().identity, example_identity());
  EXPECT_EQ(shape().tables(), 0U);
  EXPECT_EQ(manifest_->known_journal_end(), KnownJournalEnd());
  EXPECT_EQ(manifest_->number(), 1U);
}

TEST_F(ManifestTest, CommittedEditsAreThereAfterAClose) {
  create();
  commit(adds_table(1));
  commit(adds_table(2));
  const KnownJournalEnd end{9, 10, 11};
  ASSERT_TRUE(manifest_->close(end).ok());
  EXPECT_EQ(manifest_->commit({}).code(), StatusCode::kClosed);
  EXPECT_EQ(manifest_->renew().code(), StatusCode::kClosed);
  open();
  EXPECT_EQ(shape().to_text(), "L0: 2[aaaaa..zzzzz] 1[aaaaa..zzzzz]");
  EXPECT_EQ(manifest_->state().keyspaces.at(kDefaultKeyspace).flushed_sequence, 200U);
  EXPECT_EQ(manifest_->state().reserved_numbers, 3U);
  EXPECT_EQ(manifest_->known_journal_end(), end);
  EXPECT_EQ(manifest_->number(), 1U);
}

TEST_F(ManifestTest, OpeningAndClosingWithoutChangeWritesNothing) {
  create();
  commit(adds_table(1));
  const KnownJournalEnd end{9, 10, 11};
  ASSERT_TRUE(manifest_->close(end).ok());
  const std::size_t calls = files_.call_log().size();
  open();
  EXPECT_TRUE(manifest_->close(end).ok());
  open();
  EXPECT_TRUE(manifest_->close({}).ok());
  EXPECT_EQ(files_.call_log().size(), calls);
  EXPECT_EQ(manifest_->bytes_written(), 0U);
  open();
  EXPECT_TRUE(manifest_->close({10, 1, 2}).ok());
  EXPECT_GT(files_.call_log().size(), calls);
}

TEST_F(ManifestTest, ACleanlyClosedManifestIsContinued) {
  create();
  for (std::uint64_t number = 1; number <= 5; ++number) {
    commit(adds_table(number));
    ASSERT_TRUE(manifest_->close({}).ok());
    open();
    ASSERT_EQ(shape().tables(), number);
  }
  EXPECT_EQ(manifest_->number(), 1U);
}

TEST_F(ManifestTest, AManifestThatWasNotClosedIsReplacedByTheFirstCommit) {
  create();
  commit(adds_table(1));
  open();
  EXPECT_EQ(manifest_->number(), 1U);
  const std::string before = read(kStore + "/MANIFEST-000001");
  commit(adds_table(2));
  EXPECT_EQ(manifest_->number(), 2U);
  EXPECT_EQ(names(), (Names{"CURRENT", "MANIFEST-000002"})) << "the old one is removed";
  commit(adds_table(3));
  EXPECT_EQ(manifest_->number(), 2U);
  open();
  EXPECT_EQ(shape().tables(), 3U);
}

TEST_F(ManifestTest, ManifestsOfOthersAreSkippedAndOnlyOlderOnesRemoved) {
  create();
  write(kStore + "/MANIFEST-000002", "left by a crash");
  write(kStore + "/MANIFEST-000009", "newer than all");
  write(kStore + "/MANIFEST-2", "not ours");
  open();
  commit(adds_table(1));
  EXPECT_EQ(manifest_->number(), 3U);
  EXPECT_EQ(names(), (Names{"CURRENT", "MANIFEST-000003", "MANIFEST-000009", "MANIFEST-2"}));
}

TEST_F(ManifestTest, Rule23_ItRollsWhenFourFifthsAreDead) {
  create();
  commit(adds_table(1, 2000));
  std::uint64_t largest = 0;
  for (std::uint64_t number = 2; number <= 200; ++number) {
    commit(replaces_table(number - 1, number, 2000));
    largest = std::max(largest, **files_.file_size(manifest_path(kStore, manifest_->number())));
  }
  EXPECT_GE(manifest_->number(), 10U);
  EXPECT_LE(manifest_->number(), 16U);
  EXPECT_LT(largest, std::uint64_t{70} << 10);
  EXPECT_GT(largest, std::uint64_t{60} << 10);
  EXPECT_EQ(names().size(), 2U);
  open();
  EXPECT_EQ(shape().tables(), 1U);
}

TEST_F(ManifestTest, ALargeLiveStateMayBeFourTimesAsLong) {
  create();
  for (std::uint64_t number = 1; number <= 20; ++number) commit(adds_table(number, 5000));  // 200 KB live.
  EXPECT_EQ(manifest_->number(), 1U);
  for (std::uint64_t number = 21; number <= 60; ++number) commit(replaces_table(number - 20, number, 5000));
  EXPECT_EQ(manifest_->number(), 1U);
  for (std::uint64_t number = 61; number <= 100; ++number) commit(replaces_table(number - 20, number, 5000));
  EXPECT_EQ(manifest_->number(), 2U);
}

TEST_F(ManifestTest, AnEditThatDoesNotFitChangesNothing) {
  create();
  commit(adds_table(1));
  EXPECT_EQ(manifest_->commit(adds_table(1)).code(), StatusCode::kCorruption);
  EXPECT_EQ(manifest_->commit(edit_of(kDefaultKeyspace, {.flushed_sequence = 99})).message(),
            "an edit lowers the flushed sequence from 100 to 99");
  commit(adds_table(2));
  open();
  EXPECT_EQ(shape().tables(), 2U);
}

TEST_F(ManifestTest, KeyspacesComeBackFromEditsAndFromANewManifest) {
  create();
  commit(adds_table(1));
  commit(creates_keyspaces());
  commit(replaces_table_and_changes_keyspaces());
  const auto before = text_of(*manifest_);
  EXPECT_EQ(manifest_->state().keyspaces.size(), 3U);
  EXPECT_EQ(manifest_->state().keyspaces.at(KeyspaceId{2}).shape.to_text(), "L0: 3[aaaaa..zzzzz]");
  open();
  EXPECT_EQ(text_of(*manifest_), before);
  commit({});  // The manifest was not closed: this one begins another.
  EXPECT_EQ(manifest_->number(), 3U);
  open();
  EXPECT_EQ(text_of(*manifest_), before);
}

/// What CURRENT and the header of the manifest that it names say.
TEST_F(ManifestTest, Rule36_AFeatureThatComesIntoUseBeginsAManifestWhoseHeaderHasIt) {
  create();
  commit(adds_table(1));
  EXPECT_EQ(manifest_->number(), 1U);
  EXPECT_EQ(header().features, Features());
  const std::string before = read(kStore + "/MANIFEST-000001");
  commit(creates_keyspaces());
  EXPECT_EQ(manifest_->number(), 2U);
  EXPECT_EQ(header().features, Features::of(Feature::kKeyspaces));
  EXPECT_EQ(current().features, header().features);
  commit(replaces_table_and_changes_keyspaces());
  EXPECT_EQ(manifest_->number(), 2U) << "a feature that was in use before";
  commit({.features = Features::of(Feature::kLongKeys)});
  EXPECT_EQ(manifest_->number(), 3U);
  const Features both = Features::of(Feature::kKeyspaces) | Features::of(Feature::kLongKeys);
  EXPECT_EQ(header().features, both);
  EXPECT_EQ(current().features, both);
  commit({.dropped = {KeyspaceId{2}, KeyspaceId{3}}});
  open();
  EXPECT_EQ(manifest_->state().features, both) << "journals and tables may still need it";
  commit({});
  EXPECT_EQ(manifest_->number(), 4U);
  EXPECT_EQ(header().features, both) << "a new manifest has what the old one had";
}

TEST_F(ManifestTest, AHeaderThatLacksAFeatureOfItsRecordsIsCorruption) {
  create();
  commit(creates_keyspaces());
  const std::string path = kStore + "/MANIFEST-000002";
  JournalHeader lacking = header();
  lacking.features = {};
  std::string bytes = read(path);
  bytes.replace(0, kJournalHeaderBytes, as_text(encode_journal_header(lacking)));
  write(path, bytes);
  EXPECT_EQ(try_open().code(), StatusCode::kCorruption);
}

TEST_F(ManifestTest, Rule42_ATermIsDurableInCurrentAndInTheManifest) {
  create();
  EXPECT_EQ(current().term, 0U);
  commit({.term = 1});
  EXPECT_EQ(current().term, 1U);
  EXPECT_EQ(manifest_->commit({.term = 0}).code(), StatusCode::kCorruption) << "terms never fall";
  commit(adds_table(1));
  EXPECT_EQ(current().term, 1U);
  open();
  EXPECT_EQ(manifest_->state().term, 1U);
  commit({.term = 2});  // In a new manifest, because the last one was not closed.
  EXPECT_EQ(current().term, 2U);
  EXPECT_EQ(header().term, 2U);
  Current ahead = current();
  ahead.term = 3;
  write(kStore + "/CURRENT", std::string(as_text(encode_current(ahead))));
  EXPECT_EQ(try_open().code(), StatusCode::kCorruption) << "a term that was durable is missing";
}

TEST_F(ManifestTest, CreateWithKeepsTheStateAndRemovesNothing) {
  create();
  commit(adds_table(1));
  ManifestState state = manifest_->state();
  state.first_journal = 44;
  manifest_ = *Manifest::create_with(files_, kStore, state, 7, random_);
  EXPECT_EQ(names(), (Names{"CURRENT", "MANIFEST-000001", "MANIFEST-000007"}));
  open();
  EXPECT_EQ(manifest_->number(), 7U);
  EXPECT_EQ(manifest_->state().first_journal, 44U);
  EXPECT_EQ(shape().tables(), 1U);
}

TEST_F(ManifestTest, ThousandsOfTablesComeBack) {
  create();
  KeyspaceEdit edit;
  for (std::uint64_t number = 1; number <= 5000; ++number) {
    TableFacts facts;
    facts.number = number;
    facts.smallest_key = fmt::format("{:06}a", number);
    facts.largest_key = fmt::format("{:06}z", number);
    edit.shape.added.push_back({1, 1, std::make_shared<const TableFacts>(facts)});
  }
  commit(edit_of(kDefaultKeyspace, std::move(edit)));
  const auto before = text_of(*manifest_);
  open();
  EXPECT_EQ(text_of(*manifest_), before);
}

/// Where the records of a manifest end.
std::vector<std::uint64_t> record_ends(FileSystem& files, const std::string& path) {
  JournalReader reader = *JournalReader::open(files, path);
  std::vector<std::uint64_t> ends;
  for (;;) {
    const std::optional<JournalRecord> record = *reader.next();
    if (!record) break;
    ends.push_back(record->offset + kRecordHeaderBytes + record->payload.size());
  }
  return ends;
}

/// Rule 4: CURRENT records how far the manifest was durable.
TEST_F(ManifestTest, Rule4_AManifestCutAtARecordIsNotAnOlderStore) {
  create();
  for (std::uint64_t number = 1; number <= 4; ++number) commit(adds_table(number));
  const std::string path = kStore + "/MANIFEST-000001";
  const std::string whole = read(path);
  std::vector<std::uint64_t> ends = record_ends(files_, path);
  ASSERT_EQ(ends.size(), 5U);
  EXPECT_EQ(ends.back(), whole.size());
  ends.back() = kJournalHeaderBytes;
  for (const std::uint64_t end : ends) {
    write(path, whole.substr(0, end));
    EXPECT_EQ(try_open().code(), StatusCode::kCorruption) << "cut at " << end;
  }
  ASSERT_TRUE(files_.remove(path).ok());
  EXPECT_EQ(try_open().code(), StatusCode::kCorruption) << "missing";
  write(path, whole);
  EXPECT_TRUE(try_open().ok());
}

/// A closed manifest cut before its end mark must not pass for one that was left open.
TEST_F(ManifestTest, AClosedManifestCutAnywhereIsCorruption) {
  create();
  commit(adds_table(1));
  ASSERT_TRUE(manifest_->close({}).ok());
  const std::string path = kStore + "/MANIFEST-000001";
  const std::string whole = read(path);
  for (std::size_t end = 0; end < whole.size(); end += end < kJournalHeaderBytes ? 512 : 1) {
    write(path, whole.substr(0, end));
    ASSERT_EQ(try_open().code(), StatusCode::kCorruption) << "cut at " << end;
  }
}

/// P3: whatever a flipped byte does, no other state is opened.
TEST_F(ManifestTest, EveryFlippedByteIsRefusedOrChangesNothing) {
  create();
  commit(adds_table(1));
  commit(replaces_table(1, 2, 5));
  ASSERT_TRUE(manifest_->close({9, 10, 11}).ok());
  const auto right = text_of(*manifest_);
  for (const std::string& path : {kStore + "/CURRENT", kStore + "/MANIFEST-000001"}) {
    const std::string whole = read(path);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const char mask : {'\x01', '\x80', '\xff'}) {
        std::string flipped = whole;
        flipped[at] = static_cast<char>(flipped[at] ^ mask);
        write(path, flipped);
        const Result<std::unique_ptr<Manifest>> opened = Manifest::open(files_, kStore, random_);
        const StatusCode code = opened.status().code();
        if (opened.ok()) {
          ASSERT_EQ(text_of(**opened), right) << path << " byte " << at;
        } else {
          ASSERT_TRUE(code == StatusCode::kCorruption || code == StatusCode::kNotSupported) << path << " byte " << at;
        }
      }
    }
    write(path, whole);
  }
  EXPECT_TRUE(try_open().ok());
}

TEST_F(ManifestTest, AnotherStoresManifestIsNotTaken) {
  create();
  commit(adds_table(1));
  const std::string first = read(kStore + "/MANIFEST-000001");
  CrashFileSystem others;
  ASSERT_TRUE(others.make_directory(kStore).ok());
  TableIdentity identity = example_identity();
  identity.store_id[0] = std::byte{1};
  SeededRandom random(1);
  ASSERT_TRUE((*Manifest::create(others, kStore, identity, random))->commit(adds_table(1)).ok());
  write(kStore + "/MANIFEST-000001", *read_whole_file(others, kStore + "/MANIFEST-000001"));
  EXPECT_EQ(try_open().code(), StatusCode::kCorruption);
}

/// A copy from before the store was recreated has the same name, number and store id, but another salt.
TEST_F(ManifestTest, AnEarlierManifestOfTheSameNameIsNotTaken) {
  create();
  commit(adds_table(1));
  commit(adds_table(2));
  const std::string earlier = read(kStore + "/MANIFEST-000001");
  manifest_.reset();
  ASSERT_TRUE(files_.remove(kStore + "/CURRENT").ok());
  ASSERT_TRUE(files_.remove(kStore + "/MANIFEST-000001").ok());
  create();
  EXPECT_TRUE(try_open().ok());
  write(kStore + "/MANIFEST-000001", earlier);
  EXPECT_EQ(try_open().code(), StatusCode::kCorruption);
}

/// What a newer tamis may write: a valid record with an unknown required field.
TEST_F(ManifestTest, AnUnknownFieldIsRefusedByNameAndNothingIsWritten) {
  create();
  const std::string path = kStore + "/MANIFEST-000001";
  JournalReader reader = *JournalReader::open(files_, path);
  ASSERT_TRUE(reader.skip_to_end().ok());
  const JournalEnd& end = reader.end();
  const std::string payload = "\x7f" + std::string(2, '\0');  // Field 63, and no section.
  const RecordHeader header{RecordKind::kData, payload.size(), end.next_sequence, 1, end.offset, 0};
  const RecordHeaderBytes raw = encode_record_header(header, as_bytes(payload), reader.header(), end.offset);
  write(path, read(path) + std::string(as_text(raw)) + payload);
  const std::size_t calls = files_.call_log().size();
  const Status status = try_open();
  EXPECT_EQ(status.code(), StatusCode::kNotSupported);
  EXPECT_NE(status.message().find("field 63"), std::string_view::npos) << status.to_text();
  EXPECT_EQ(files_.call_log().size(), calls);
}

TEST_F(ManifestTest, AfterAFailedCommitNothingWorksUntilRenew) {
  create();
  commit(adds_table(1));
  files_.set_capacity(files_.disk().used_bytes() + 10);
  const Status failed = manifest_->commit(adds_table(2));
  EXPECT_EQ(failed.code(), StatusCode::kOutOfSpace);
  EXPECT_EQ(manifest_->commit(adds_table(3)).to_text(), failed.to_text());
  EXPECT_EQ(manifest_->close({}).to_text(), failed.to_text());
  EXPECT_FALSE(manifest_->renew().ok()) << "still no room";
  files_.set_capacity(1 << 20);
  EXPECT_FALSE(manifest_->commit(adds_table(3)).ok()) << "not by itself";
  ASSERT_TRUE(manifest_->renew().ok());
  commit(adds_table(3));
  open();
  EXPECT_EQ(shape().to_text(), "L0: 3[aaaaa..zzzzz] 1[aaaaa..zzzzz]");
}

TEST_F(ManifestTest, TheGoldenManifestIsReproducedAndRead) {
  create();
  commit(adds_table(1));
  const ManifestEdit edit = replaces_table_and_changes_keyspaces();
  commit(creates_keyspaces());
  commit(edit);
  ASSERT_TRUE(manifest_->close({12, 0x0123456789abcdef, 65'536}).ok());
  const std::string folder = "tests/golden/manifest";
  test::expect_golden(folder + "/CURRENT", read(kStore + "/CURRENT"));
  test::expect_golden(folder + "/MANIFEST-000002", read(kStore + "/MANIFEST-000002"));
  // Shown in docs/FORMAT.md: the first record and the last.
  const ManifestState empty{.identity = example_identity()};
  test::expect_golden("fuzz/corpus/manifest_format_fuzz/first",
                      encode_manifest_record({empty.identity, whole_edit(empty)}));
  test::expect_golden("fuzz/corpus/manifest_format_fuzz/edit", encode_manifest_record({{}, edit}));
  const auto golden = *Manifest::open(posix_file_system(), source_file(folder), random_);
  EXPECT_EQ(text_of(*golden), text_of(*manifest_));
}

}  // namespace
}  // namespace tamis
