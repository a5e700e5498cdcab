// A mutable filter in a file, on a disk that crashes: no key is lost whose add and sync have returned, and damage to
// what was durable is an error, never a "no".
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "filter/mutable_filter_file.h"
#include "support/crash_file_system.h"
#include "support/faulty_file_system.h"

namespace tamis::test {
namespace {

const std::string kPath = "seen.tamis";

std::string key_of(int i) { return "key-" + std::to_string(i); }

void write_whole(FileSystem& files, std::string_view bytes) {
  const auto file = files.open_writable(kPath, OpenMode::kReplace).value();
  const Bytes all = as_bytes(bytes);
  ASSERT_TRUE(file->write_at(0, std::span(&all, 1)).ok());
  ASSERT_TRUE(file->sync().ok());
  ASSERT_TRUE(file->close().ok());
  ASSERT_TRUE(files.sync_directory(".").ok());
}

/// An empty filter of this kind in its file.
void make_file(FileSystem& files, const std::string& kind) {
  const MutableFilter made = MutableFilter::create({.kind = kind, .target_rate = 0.01, .capacity = 400}).value();
  write_whole(files, as_text(made.freeze().bytes()));
}

std::string bytes_of(FileSystem& files) { return read_whole_file(files, kPath).value(); }

class FilterFileCrash : public testing::TestWithParam<std::string> {};

/// Opens, adds, removes, syncs and closes, several times. After each call of the disk it crashes in every way; the file
/// that is found then has every key that was synced, and can be changed.
TEST_P(FilterFileCrash, P1_NoSyncedKeyIsLostWhateverTheMoment) {
  CrashFileSystem files;
  make_file(files, GetParam());
  std::set<int> synced;
  std::uint64_t images = 0;
  std::set<std::uint64_t> seen;
  files.after_each_call([&](const MemoryDisk& disk, std::string_view call) {
    for (const Loss loss : kAllLosses) {
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const MemoryDisk image = disk.after_crash(loss, seed);
        if (!seen.insert(image.content_hash()).second) continue;
        ++images;
        CrashFileSystem rebooted(image);
        Result<MutableFilterFile> found = open_mutable_filter_file(rebooted, kPath);
        ASSERT_TRUE(found.ok()) << call << ", " << to_string(loss) << ": " << found.status().to_text();
        for (const int key : synced) ASSERT_TRUE(found->filter().may_contain(key_of(key))) << call << " " << key;
        ASSERT_TRUE(found->add("after the crash").ok());
        ASSERT_TRUE(found->close().ok());
        ASSERT_TRUE(Filter::from_bytes(as_bytes(bytes_of(rebooted)))->may_contain("after the crash"));
      }
    }
  });
  std::set<int> inside;
  int next = 0;
  for (int round = 0; round < 4; ++round) {
    Result<MutableFilterFile> file = open_mutable_filter_file(files, kPath);
    ASSERT_TRUE(file.ok()) << file.status().to_text();
    for (int batch = 0; batch < 3; ++batch) {
      std::vector<std::string> keys;
      for (int i = 0; i < 1 + 30 * batch; ++i) keys.push_back(key_of(next + i));
      ASSERT_TRUE(file->add(std::vector<std::string_view>(keys.begin(), keys.end())).ok());
      for (std::size_t i = 0; i < keys.size(); ++i) inside.insert(next++);
      if (file->filter().info().kind != "bloom" && batch == 1) {
        const int gone = *inside.begin();
        inside.erase(gone);
        synced.erase(gone);
        ASSERT_TRUE(*file->remove(key_of(gone)));
      }
      if (batch != 1) {
        ASSERT_TRUE(file->sync().ok());
        synced = inside;
      }
    }
    if (round % 2 == 0) {
      ASSERT_TRUE(file->close().ok());
      synced = inside;
    }
  }
  EXPECT_GT(images, 100U);
  const Filter found = Filter::from_bytes(as_bytes(bytes_of(files))).value();
  for (const int key : inside) EXPECT_TRUE(found.may_contain(key_of(key)));
}

/// A log cut anywhere has the keys of the records before the cut, and goes on from there.
TEST_P(FilterFileCrash, ALogCutAtAnyByteHasTheRecordsBefore) {
  CrashFileSystem files;
  make_file(files, GetParam());
  const std::size_t container = bytes_of(files).size();
  {
    MutableFilterFile file = open_mutable_filter_file(files, kPath).value();
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(file.add(key_of(i)).ok());
  }
  const std::string whole = bytes_of(files);
  ASSERT_EQ(whole.size(), container + 6 * 32);
  for (std::size_t length = container; length <= whole.size(); ++length) {
    for (const char tail : {'\0', 'x'}) {
      CrashFileSystem cut;
      write_whole(cut, whole.substr(0, length) + std::string(tail == '\0' ? 0 : 40, tail));
      MutableFilterFile file = open_mutable_filter_file(cut, kPath).value();
      const int there = static_cast<int>((length - container) / 32);
      EXPECT_EQ(file.filter().info().keys, static_cast<std::uint64_t>(there)) << length;
      for (int i = 0; i < there; ++i) ASSERT_TRUE(file.filter().may_contain(key_of(i))) << length;
      ASSERT_TRUE(file.add("later").ok());
      EXPECT_EQ(Filter::from_bytes(as_bytes(bytes_of(cut)))->info().keys, static_cast<std::uint64_t>(there) + 1);
    }
  }
}

/// What a killed process has left is not durable yet, and later records must not say so: after a crash of the machine
/// the file would be taken for damaged.
TEST_P(FilterFileCrash, RecordsOfAKilledProcessAreDurableBeforeLaterOnesSaySo) {
  CrashFileSystem files;
  make_file(files, GetParam());
  for (int process = 0; process < 2; ++process) {
    MutableFilterFile file = open_mutable_filter_file(files, kPath).value();
    for (int i = 0; i < 60; ++i) ASSERT_TRUE(file.add(key_of(60 * process + i)).ok());
  }
  for (const Loss loss : kAllLosses) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      CrashFileSystem rebooted(files.disk().after_crash(loss, seed));
      const Result<MutableFilterFile> found = open_mutable_filter_file(rebooted, kPath);
      ASSERT_TRUE(found.ok()) << to_string(loss) << " " << seed << ": " << found.status().to_text();
      for (int i = 0; i < 60; ++i)
        ASSERT_TRUE(found->filter().may_contain(key_of(i))) << to_string(loss) << " " << seed;
    }
  }
}

/// A record behind a torn one is not taken for the next, even if later records end where it begins.
TEST_P(FilterFileCrash, WhatIsBehindATornRecordNeverComesBack) {
  if (GetParam() == "bloom") return;  // Removes nothing.
  CrashFileSystem files;
  make_file(files, GetParam());
  const std::size_t container = bytes_of(files).size();
  {
    MutableFilterFile file = open_mutable_filter_file(files, kPath).value();
    ASSERT_TRUE(file.add(key_of(0)).ok());
    ASSERT_TRUE(file.add(key_of(1)).ok());
    ASSERT_TRUE(*file.remove(key_of(0)));
  }
  std::string torn = bytes_of(files);
  std::fill_n(torn.begin() + static_cast<std::ptrdiff_t>(container) + 32, 32, '\0');
  write_whole(files, torn);
  {
    MutableFilterFile file = open_mutable_filter_file(files, kPath).value();
    EXPECT_TRUE(file.filter().may_contain(key_of(0)));
    ASSERT_TRUE(file.add(key_of(2)).ok());
  }
  const Filter found = Filter::from_bytes(as_bytes(bytes_of(files))).value();
  EXPECT_TRUE(found.may_contain(key_of(0)));
  EXPECT_TRUE(found.may_contain(key_of(2)));
}

/// A flipped byte of what was durable is corruption, or changes nothing that matters.
TEST_P(FilterFileCrash, P3_AFlippedByteDeniesNoKey) {
  CrashFileSystem files;
  make_file(files, GetParam());
  {
    MutableFilterFile file = open_mutable_filter_file(files, kPath).value();
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(file.add(key_of(i)).ok());
      ASSERT_TRUE(file.sync().ok());
    }
  }
  const std::string whole = bytes_of(files);
  const std::size_t last_record = whole.size() - 32;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
    const Result<Filter> opened = Filter::from_bytes(as_bytes(flipped), "seen.tamis");
    if (opened.ok()) {
      // Nothing proves that the last record was durable.
      ASSERT_GE(at, last_record);
      for (int i = 0; i < 3; ++i) ASSERT_TRUE(opened->may_contain(key_of(i)));
      continue;
    }
    ASSERT_EQ(opened.status().code(), StatusCode::kCorruption);
    ASSERT_NE(opened.status().message().find("seen.tamis"), std::string::npos) << opened.status().to_text();
  }
}

/// Any one call fails, or all from one on: what was acknowledged is there afterwards.
TEST_P(FilterFileCrash, P6_AFailedCallLosesNothingThatWasAcknowledged) {
  std::uint64_t failures = 0;
  for (const FaultKind kind :
       {FaultKind::kIoError, FaultKind::kIoErrorAfterwards, FaultKind::kNoSpace, FaultKind::kShortWrite}) {
    for (const bool sticky : {false, true}) {
      for (std::uint64_t at_call = 1;; ++at_call) {
        CrashFileSystem disk;
        make_file(disk, GetParam());
        const Fault fault = {kind, at_call, sticky};
        FaultyFileSystem files(disk, fault);
        std::set<int> acknowledged;
        for (int round = 0; round < 2; ++round) {
          Result<MutableFilterFile> file = open_mutable_filter_file(files, kPath);
          if (!file.ok()) continue;
          for (int i = 10 * round; i < 10 * round + 5; ++i) {
            if (file->add(key_of(i)).ok()) acknowledged.insert(i);
          }
          if (file->close().ok()) continue;
        }
        if (files.calls() < at_call) break;
        failures += files.fired();
        const Result<Filter> found = Filter::from_bytes(as_bytes(bytes_of(disk)));
        ASSERT_TRUE(found.ok()) << to_text(fault) << ": " << found.status().to_text();
        for (const int key : acknowledged) ASSERT_TRUE(found->may_contain(key_of(key))) << to_text(fault) << " " << key;
      }
    }
  }
  EXPECT_GT(failures, 50U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, FilterFileCrash, testing::Values("growing", "bloom", "cuckoo"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace tamis::test
