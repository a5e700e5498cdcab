// Files that were written once and must be reproduced.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "io/file.h"
#include "support/source_file.h"

namespace tamis::test {

/// Whether a test may write a missing golden file: with TAMIS_WRITE_GOLDEN=1. None is ever overwritten.
inline bool makes_golden(const std::string& path) {
  return std::getenv("TAMIS_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(path);
}

/// The bytes of a golden file, given relative to the repository's root; written from `made` if missing and allowed.
inline std::string golden_file(const std::string& name, const std::string& made) {
  const std::string path = source_file(name);
  if (makes_golden(path)) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    EXPECT_TRUE(write_file(path, as_bytes(made)).ok());
  }
  const Result<MappedFile> golden = MappedFile::open(path);
  EXPECT_TRUE(golden.ok()) << golden.status().to_text();
  return golden.ok() ? std::string(as_text(golden->bytes())) : std::string();
}

/// This build writes the same bytes.
inline void expect_golden(const std::string& name, const std::string& made) {
  EXPECT_TRUE(golden_file(name, made) == made) << name << ": this build writes other bytes than the golden file has";
}

}  // namespace tamis::test
