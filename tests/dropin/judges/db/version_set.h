// In place of LevelDB's header, for a benchmark of LevelDB's manifest that is compiled with its tests and never run.
#pragma once

#include <cstdint>
#include <string>

#include "db/dbformat.h"

namespace leveldb {

class VersionEdit {
 public:
  void AddFile(int /*level*/, uint64_t /*file*/, uint64_t /*bytes*/, const InternalKey& /*first*/,
               const InternalKey& /*last*/) {}
  void RemoveFile(int /*level*/, uint64_t /*file*/) {}
};

class VersionSet {
 public:
  template <typename TableCache>
  VersionSet(const std::string& /*name*/, const Options* /*options*/, TableCache /*tables*/,
             const InternalKeyComparator* /*order*/) {}
  Status Recover(bool* /*save_manifest*/) { return Status::NotSupported("a manifest of LevelDB's"); }
  template <typename Mutex>
  Status LogAndApply(VersionEdit* /*edit*/, Mutex* /*mutex*/) {
    return Status::NotSupported("a manifest of LevelDB's");
  }
};

}  // namespace leveldb
