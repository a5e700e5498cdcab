// Rule 36: the first write that needs a feature goes to files whose headers name it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/features.h"
#include "entry/batch_format.h"
#include "io/file_names.h"
#include "journal/journal_reader.h"
#include "support/crash_file_system.h"
#include "support/files.h"
#include "tamis/db.h"
#include "tree/current_format.h"

namespace tamis {
namespace {

/// A feature, a write that needs it, and which entries do.
struct FirstUse {
  const char* name;
  Feature feature;
  Status (*write)(DB& db, std::string_view value);
  bool (*is_needed_by)(const BatchView::Iterator& entry);
};

const FirstUse kFirstUses[] = {
    {"keyspaces", Feature::kKeyspaces,
     [](DB& db, std::string_view value) { return db.keyspace("users")->put("key", value); },
     [](const BatchView::Iterator& entry) { return entry.keyspace() != kDefaultKeyspace; }},
    {"range deletes", Feature::kRangeDeletes,
     [](DB& db, std::string_view value) {
       Batch batch;
       batch.remove_range("a", "b");
       batch.put("key", value);
       return db.write(batch);
     },
     [](const BatchView::Iterator& entry) { return entry->kind == EntryKind::kRangeDelete; }},
    {"merges", Feature::kMerges,
     [](DB& db, std::string_view value) {
       Batch batch;
       batch.merge("list", "operand");
       batch.put("key", value);
       return db.write(batch);
     },
     [](const BatchView::Iterator& entry) { return entry->kind == EntryKind::kMerge; }},
    {"long keys", Feature::kLongKeys,
     [](DB& db, std::string_view value) { return db.put(std::string(70'000, 'k'), value); },
     [](const BatchView::Iterator& entry) { return entry->key.size() > kMaxNarrowKeyBytes; }},
};

Result<DB> open(FileSystem& files, bool read_only = false) {
  return DB::open("/store", {.read_only = read_only, .merge_operator = "append"},
                  {.files = &files, .random_seed = 1, .runs_in_background = false});
}

/// By number.
std::map<std::uint64_t, std::string> files_of(FileSystem& files, FileKind kind) {
  std::map<std::uint64_t, std::string> paths;
  for (const std::string& name : test::names_in(files, "/store")) {
    const std::optional<FileName> parsed = parse_file_name(name);
    if (parsed && parsed->kind == kind) paths[parsed->number] = "/store/" + name;
  }
  return paths;
}

Features features_of(FileSystem& files, const std::string& path) {
  return JournalReader::open(files, path)->header().features;
}

Features features_of_current(FileSystem& files) {
  return decode_current(as_bytes(*read_whole_file(files, "/store/CURRENT")), "CURRENT")->features;
}

Features features_of_manifest(FileSystem& files) {
  return features_of(files, files_of(files, FileKind::kManifest).rbegin()->second);
}

/// Empty, or which journal has an entry that needs the feature and a header that does not name it, or a header that
/// names it before CURRENT and the manifest do.
std::string violation_in(FileSystem& files, const FirstUse& use) {
  const Features feature = Features::of(use.feature);
  for (const auto& [number, path] : files_of(files, FileKind::kJournal)) {
    Result<JournalReader> journal = JournalReader::open(files, path);
    if (!journal.ok()) continue;  // It is being made.
    const bool is_named = journal->header().features.includes(feature);
    if (is_named && !features_of_current(files).includes(feature)) return path + ": CURRENT does not name it";
    if (is_named && !features_of_manifest(files).includes(feature)) return path + ": the manifest does not name it";
    while (true) {
      const Result<std::optional<JournalRecord>> record = journal->next();
      if (!record.ok() || !*record) break;
      const BatchView batch = *BatchView::decode((*record)->payload, Sequence{(*record)->first_sequence}, path);
      for (BatchView::Iterator it = batch.begin(); it != batch.end(); ++it) {
        if (use.is_needed_by(it) && !is_named) return path + ": an entry needs a feature that its header does not name";
      }
    }
  }
  return {};
}

TEST(FirstUse, Rule36_BeginsAJournalWhoseHeaderNamesTheFeature) {
  for (const FirstUse& use : kFirstUses) {
    SCOPED_TRACE(use.name);
    const Features feature = Features::of(use.feature);
    CrashFileSystem files;
    DB db = *open(files);
    ASSERT_TRUE(db.put("before", "1", {.sync = true}).ok());
    const auto [old_number, old_path] = *files_of(files, FileKind::kJournal).rbegin();
    ASSERT_FALSE(features_of(files, old_path).includes(feature) || features_of_current(files).includes(feature));

    std::string violation;
    files.after_each_call([&](const MemoryDisk& disk, std::string_view call) {
      for (const Loss loss : kAllLosses) {
        CrashFileSystem rebooted(disk.after_crash(loss, 1));
        const std::string wrong = violation_in(rebooted, use);
        if (violation.empty() && !wrong.empty()) violation = std::string(call) + ": " + wrong;
      }
    });
    ASSERT_TRUE(use.write(db, "2").ok() && db.sync().ok());
    files.after_each_call({});
    EXPECT_EQ(violation, "");
    EXPECT_EQ(violation_in(files, use), "");

    const auto [number, path] = *files_of(files, FileKind::kJournal).rbegin();
    EXPECT_GT(number, old_number);
    EXPECT_TRUE(features_of(files, path).includes(feature));
    EXPECT_FALSE(features_of(files, old_path).includes(feature)) << "a header was rewritten";
    EXPECT_TRUE(features_of_current(files).includes(feature) && features_of_manifest(files).includes(feature));

    ASSERT_TRUE(use.write(db, "3").ok() && db.sync().ok());
    EXPECT_EQ(files_of(files, FileKind::kJournal).rbegin()->first, number) << "the second use began a journal, too";
  }
}

/// What was in use once stays in the headers: journals that are still to be written may need it.
TEST(FirstUse, Rule36_LaterJournalsNameTheFeatureToo) {
  for (const FirstUse& use : kFirstUses) {
    SCOPED_TRACE(use.name);
    CrashFileSystem files;
    {
      DB db = *open(files);
      ASSERT_TRUE(use.write(db, "1").ok() && db.flush().ok() && db.put("after", "2").ok() && db.close().ok());
    }
    CrashFileSystem rebooted(files.disk().after_crash(Loss::kNothing, 1));
    DB db = *open(rebooted);
    ASSERT_TRUE(use.write(db, "3").ok() && db.flush().ok() && db.put("after", "4").ok() && db.sync().ok());
    EXPECT_EQ(violation_in(rebooted, use), "");
    for (const auto& [number, path] : files_of(rebooted, FileKind::kJournal)) {
      EXPECT_TRUE(features_of(rebooted, path).includes(Features::of(use.feature))) << path;
    }
    EXPECT_TRUE(features_of_current(rebooted).includes(Features::of(use.feature)));
  }
}

/// As an older build sees these files: a header has a bit that it does not know.
TEST(FirstUse, Rule36_ABuildThatDoesNotKnowTheFeatureRefusesAndChangesNothing) {
  for (const FirstUse& use : kFirstUses) {
    CrashFileSystem written;
    {
      DB db = *open(written);
      ASSERT_TRUE(db.put("before", "1").ok() && use.write(db, "2").ok() && db.close().ok());
    }
    const std::pair<std::string, std::size_t> headers[] = {
        {"/store/CURRENT", kCurrentBytes},
        {files_of(written, FileKind::kManifest).rbegin()->second, kJournalHeaderBytes},
        {files_of(written, FileKind::kJournal).rbegin()->second, kJournalHeaderBytes},
    };
    for (const auto& [path, header_bytes] : headers) {
      SCOPED_TRACE(std::string(use.name) + " in " + path);
      CrashFileSystem files(written.disk());
      test::set_header_byte(files, path, header_bytes, 17, '\x02');  // Bit 9.
      const std::size_t calls = files.call_log().size();
      for (const bool read_only : {false, true}) {
        const Status status = open(files, read_only).status();
        EXPECT_EQ(status.code(), StatusCode::kNotSupported) << status.to_text();
        EXPECT_NE(status.message().find("feature 9"), std::string_view::npos) << status.to_text();
      }
      EXPECT_EQ(files.call_log().size(), calls) << "something was written";
    }
  }
}

}  // namespace
}  // namespace tamis
