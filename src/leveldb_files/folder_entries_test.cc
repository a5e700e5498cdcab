// Tests with a folder that LevelDB 1.23 has written: tests/golden/foreign/leveldb/folder. It has a table in a deep
// level, two in level 0 and a log, each of which overwrites and deletes what is below; folder.hex is what LevelDB lists
// of it.
#include "leveldb_files/folder_entries.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "filter/formats/foreign_hash.h"
#include "io/memory_file_system.h"
#include "leveldb_files/log_records_format.h"
#include "support/files.h"
#include "support/golden_files.h"

namespace tamis::leveldb {
namespace {

using FolderFiles = std::map<std::string, std::string>;  // Bytes by name.

const FolderFiles& golden_folder() {
  static const FolderFiles folder = [] {
    FolderFiles files;
    for (const auto& file : std::filesystem::directory_iterator(foreign::golden_path("leveldb/folder"))) {
      const std::string name = file.path().filename();
      files[name] = foreign::golden_bytes("leveldb/folder/" + name);
    }
    return files;
  }();
  return folder;
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

struct Reading {
  std::string lines;
  Status status;
  std::vector<std::string> notes;
};

Reading read(const FolderFiles& folder) {
  MemoryFileSystem files;
  EXPECT_TRUE(files.make_directory("/old").ok());
  for (const auto& [name, bytes] : folder) test::put_file(files, "/old/" + name, bytes);
  Reading reading;
  auto entries = FolderEntries::open(files, "/old");
  if (!entries.ok()) {
    reading.status = entries.status();
    return reading;
  }
  while ((*entries)->next()) {
    reading.lines += hex((*entries)->at().key()) + "\t" + hex((*entries)->at().value()) + "\n";
  }
  reading.status = (*entries)->at().status();
  reading.notes = (*entries)->live().notes;
  return reading;
}

std::string golden_lines() { return foreign::golden_bytes("leveldb/folder.hex"); }

/// With file and offset, or with the name of a file that is missing.
void expect_refusal(const Status& status, const std::string& what) {
  EXPECT_TRUE(status.code() == StatusCode::kCorruption || status.code() == StatusCode::kNotSupported ||
              status.code() == StatusCode::kIoError)
      << what << ": " << status.to_text();
  EXPECT_NE(status.message().find("/old"), std::string_view::npos) << what << ": " << status.to_text();
  EXPECT_TRUE(status.message().find("offset") != std::string_view::npos ||
              status.message().find("missing") != std::string_view::npos ||
              status.message().find("comparator") != std::string_view::npos)
      << what << ": " << status.to_text();
}

TEST(LevelDbFolderEntries, AreWhatLevelDbLists) {
  const Reading reading = read(golden_folder());
  EXPECT_TRUE(reading.status.ok()) << reading.status.to_text();
  EXPECT_EQ(reading.lines, golden_lines());
  EXPECT_TRUE(reading.notes.empty());
}

TEST(LevelDbFolderEntries, AreTheSameUnderTheOldNamesOfTables) {
  FolderFiles folder;
  for (const auto& [name, bytes] : golden_folder()) {
    folder[name.ends_with(".ldb") ? name.substr(0, name.size() - 4) + ".sst" : name] = bytes;
  }
  EXPECT_EQ(read(folder).lines, golden_lines());
}

TEST(LevelDbFolderEntries, AreRefusedOrTheSameWhateverByteChanges) {
  std::size_t refused = 0;
  std::size_t same = 0;
  std::size_t torn = 0;
  for (const auto& [name, bytes] : golden_folder()) {
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (const char change : {'\x01', '\x80'}) {
        FolderFiles folder = golden_folder();
        folder[name][at] = static_cast<char>(folder[name][at] ^ change);
        const Reading reading = read(folder);
        const std::string what = fmt::format("{} byte {} ^ {}", name, at, static_cast<int>(change));
        if (!reading.status.ok()) {
          expect_refusal(reading.status, what);
          ++refused;
        } else if (name.ends_with(".log") && !reading.notes.empty()) {
          // A length that reaches beyond the end is what a torn write looks like: LevelDB drops it, we say so.
          ++torn;
        } else {
          EXPECT_EQ(reading.lines, golden_lines()) << what;
          ++same;
        }
      }
    }
  }
  EXPECT_GT(refused, 5000U);
  EXPECT_LE(torn, 9U);    // The lengths of three records, whose highest bit is refused.
  EXPECT_GT(same, 100U);  // Filters, metaindexes and what they name are not read.
}

TEST(LevelDbFolderEntries, OfATruncatedFileAreRefusedOrSaidToBeCut) {
  for (const auto& [name, bytes] : golden_folder()) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      FolderFiles folder = golden_folder();
      folder[name].resize(size);
      const Reading reading = read(folder);
      const std::string what = fmt::format("{} cut to {}", name, size);
      if (!reading.status.ok()) {
        expect_refusal(reading.status, what);
      } else if (name.ends_with(".log")) {
        // The newest log may end anywhere. Where that is not between two records, it is said.
        const std::size_t first_record = 7 + load_le<std::uint16_t>(bytes.data() + 4);
        const std::size_t second_record = first_record + 7 + load_le<std::uint16_t>(bytes.data() + first_record + 4);
        const bool is_between = size == 0 || size == first_record || size == second_record;
        EXPECT_EQ(reading.notes.empty(), is_between) << what;
      } else {
        EXPECT_EQ(reading.lines, golden_lines()) << what;
      }
    }
  }
}

TEST(LevelDbFolderEntries, AreNotFoundWithoutOneOfItsFiles) {
  for (const auto& [name, bytes] : golden_folder()) {
    FolderFiles folder = golden_folder();
    folder.erase(name);
    const Reading reading = read(folder);
    EXPECT_FALSE(reading.status.ok()) << name;
    EXPECT_NE(reading.status.message().find(name == "CURRENT" ? "CURRENT" : "missing"), std::string_view::npos)
        << reading.status.to_text();
  }
}

TEST(LevelDbFolderEntries, IgnoreWhatIsNoPartOfTheStore) {
  FolderFiles folder = golden_folder();
  folder["LOG"] = "text";
  folder["000002.ldb"] = "left by a compaction that was killed";
  folder["000003.log"] = "older than what the manifest needs";
  folder["MANIFEST-000002"] = "older";
  EXPECT_EQ(read(folder).lines, golden_lines());
}

/// A manifest whose only record has these bytes.
std::string manifest_of(std::string record) {
  std::string checked = '\x01' + record;
  std::string file;
  append_le(file, foreign::masked_crc32c(foreign::crc32c(as_bytes(checked))));
  append_le(file, static_cast<std::uint16_t>(record.size()));
  return file + checked;
}

TEST(LevelDbFolderEntries, InAnotherOrderAreRefusedWithTheNameOfTheOrder) {
  const Reading reading = read({{"CURRENT", "MANIFEST-000001\n"},
                                {"MANIFEST-000001", manifest_of("\x01\x07"
                                                                "Reverse")}});
  EXPECT_EQ(reading.status.code(), StatusCode::kNotSupported);
  EXPECT_NE(reading.status.message().find("Reverse"), std::string_view::npos) << reading.status.to_text();
}

TEST(LevelDbFolderEntries, OfRocksDbAreRefusedWithWhatReadsThem) {
  const Reading reading = read({{"CURRENT", "MANIFEST-000001\n"}, {"MANIFEST-000001", manifest_of("\x67\x01")}});
  EXPECT_EQ(reading.status.code(), StatusCode::kNotSupported);
  EXPECT_NE(reading.status.message().find("tamis import rocksdb"), std::string_view::npos);
}

TEST(LevelDbFolderEntries, OfAnOlderLogThatEndsInsideARecordAreRefused) {
  FolderFiles folder = golden_folder();
  const std::string log = folder["000011.log"];
  folder["000012.log"] = "";
  EXPECT_EQ(read(folder).lines, golden_lines());
  folder["000011.log"].pop_back();
  const Reading reading = read(folder);
  EXPECT_EQ(reading.status.code(), StatusCode::kCorruption);
  expect_refusal(reading.status, "older log");
}

TEST(LevelDbFolderEntries, NoticeThatTheStoreWasOpenedMeanwhile) {
  MemoryFileSystem files;
  ASSERT_TRUE(files.make_directory("/old").ok());
  for (const auto& [name, bytes] : golden_folder()) test::put_file(files, "/old/" + name, bytes);
  auto entries = *FolderEntries::open(files, "/old");
  EXPECT_TRUE(entries->check_unchanged().ok());
  test::put_file(files, "/old/MANIFEST-000009", golden_folder().at("MANIFEST-000009") + manifest_of("\x02\x0b"));
  EXPECT_EQ(entries->check_unchanged().code(), StatusCode::kBusy);
}

}  // namespace
}  // namespace tamis::leveldb
