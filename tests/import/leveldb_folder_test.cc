// LevelDbFolder beside LevelDB: what it reads of random stores is what LevelDB lists.
#include <gtest/gtest.h>
#include <leveldb/db.h>
#include <leveldb/write_batch.h>
#include <tamis/leveldb_folder.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "process/child_process.h"
#include "support/scratch_folder.h"

namespace tamis::test {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

std::unique_ptr<::leveldb::DB> open(const std::string& folder, ::leveldb::Options options = {}) {
  options.create_if_missing = true;
  ::leveldb::DB* db = nullptr;
  const ::leveldb::Status status = ::leveldb::DB::Open(options, folder, &db);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return std::unique_ptr<::leveldb::DB>(db);
}

/// Random writes to a LevelDB store, which is closed and opened with other options now and then.
class Writes {
 public:
  Writes(std::string folder, unsigned seed) : folder_(std::move(folder)), random_(seed) {}

  void run(int batches) {
    std::unique_ptr<::leveldb::DB> db = open(folder_, options());
    for (int i = 0; i < batches; ++i) {
      ::leveldb::WriteBatch batch = this->batch();
      ASSERT_TRUE(db->Write({}, &batch).ok());
      if (below(400) == 0) db->CompactRange(nullptr, nullptr);
      if (below(100) != 0) continue;
      db.reset();
      db = open(folder_, options());
    }
  }
  [[nodiscard]] Entries expected() const { return {model_.begin(), model_.end()}; }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  ::leveldb::Options options() {
    ::leveldb::Options options;
    options.write_buffer_size = std::size_t{64} << 10U;
    options.max_file_size = std::size_t{1} << 20U;
    options.block_size = 256U << below(6);
    options.block_restart_interval = 1 + static_cast<int>(below(20));
    options.compression = below(2) == 0 ? ::leveldb::kNoCompression : ::leveldb::kSnappyCompression;
    options.reuse_logs = below(2) == 0;
    return options;
  }
  std::string key() {
    std::string key = "prefix" + std::to_string(below(3000));
    if (below(50) == 0) key.clear();
    if (below(50) == 0) key += std::string(below(600), '\xff');
    if (below(10) == 0) key.insert(0, 1, static_cast<char>(below(256)));
    return key;
  }
  std::string value() {
    std::string value(below(8) == 0 ? below(3000) : below(100), 'v');
    for (std::size_t i = 0; i < value.size(); i += 1 + below(5)) value[i] = static_cast<char>(below(256));
    if (below(200) == 0) value.append(100'000, 'w');  // Fragments in several blocks of the log.
    return value;
  }
  ::leveldb::WriteBatch batch() {
    ::leveldb::WriteBatch batch;
    for (std::uint64_t i = 0; i < 1 + below(10); ++i) {
      const std::string key = this->key();
      if (below(4) == 0) {
        batch.Delete(key);
        model_.erase(key);
      } else {
        const std::string value = this->value();
        batch.Put(key, value);
        model_[key] = value;
      }
    }
    return batch;
  }

  const std::string folder_;
  std::mt19937_64 random_;
  std::map<std::string, std::string> model_;
};

Entries read(const std::string& folder) {
  Result<LevelDbFolder> opened = LevelDbFolder::open(folder);
  EXPECT_TRUE(opened.ok()) << opened.status().to_text();
  Entries entries;
  if (!opened.ok()) return entries;
  while (opened->next()) entries.emplace_back(opened->key(), opened->value());
  EXPECT_TRUE(opened->status().ok()) << opened->status().to_text();
  EXPECT_TRUE(opened->finish().ok()) << opened->finish().to_text();
  EXPECT_LE(opened->bytes_read(), opened->bytes());
  return entries;
}

/// Names, times and bytes of everything in the folder.
std::map<std::string, std::string> state_of(const std::string& folder) {
  std::map<std::string, std::string> state;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ostringstream text;
    text << file.last_write_time().time_since_epoch().count() << ' ' << std::ifstream(file.path()).rdbuf();
    state[file.path()] = text.str();
  }
  return state;
}

TEST(LevelDbFolder, ListsWhatLevelDbHolds) {
  std::uint64_t most_tables = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const ScratchFolder scratch;
    Writes writes(scratch.path(), seed);
    writes.run(static_cast<int>(seed * 100));
    EXPECT_TRUE(read(scratch.path()) == writes.expected()) << "seed " << seed;
    most_tables = std::max(most_tables, LevelDbFolder::open(scratch.path())->tables());
  }
  EXPECT_GT(most_tables, 1U);  // How many there are depends on when LevelDB compacts.
}

TEST(LevelDbFolder, IsNotChanged) {
  const ScratchFolder scratch;
  Writes writes(scratch.path(), 99);
  writes.run(300);
  const auto before = state_of(scratch.path());
  EXPECT_EQ(read(scratch.path()), writes.expected());
  EXPECT_EQ(state_of(scratch.path()), before);
}

TEST(LevelDbFolder, IsRefusedWhileAnotherProcessHasItOpen) {
  const ScratchFolder scratch;
  open(scratch.path())->Put({}, "key", "value");
  ChildProcess child([&](const ChildProcess::Teller& teller) {
    const std::unique_ptr<::leveldb::DB> db = open(scratch.path());
    teller.tell(1);
    for (;;) ::pause();
    return 0;
  });
  ASSERT_EQ(child.next(), 1U);
  const Status refused = LevelDbFolder::open(scratch.path()).status();
  EXPECT_EQ(refused.code(), StatusCode::kBusy);
  EXPECT_NE(refused.message().find("process " + std::to_string(child.pid())), std::string_view::npos)
      << refused.message();
  child.kill();
  child.wait();
  EXPECT_EQ(read(scratch.path()), (Entries{{"key", "value"}}));
}

TEST(LevelDbFolder, IsRefusedWhenItWasOpenedMeanwhile) {
  const ScratchFolder scratch;
  open(scratch.path())->Put({}, "key", "value");
  Result<LevelDbFolder> folder = LevelDbFolder::open(scratch.path());
  ASSERT_TRUE(folder.ok());
  EXPECT_TRUE(folder->finish().ok());
  open(scratch.path());
  EXPECT_EQ(folder->finish().code(), StatusCode::kBusy);
}

}  // namespace
}  // namespace tamis::test
