// A folder on the machine's disk for one test.
#pragma once

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX.

#include <filesystem>
#include <string>

#include "base/check.h"

namespace tamis::test {

/// A new folder, removed at the end with everything in it.
class ScratchFolder {
 public:
  ScratchFolder() { TAMIS_CHECK(::mkdtemp(folder_.data()) != nullptr); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string path(const std::string& name = "store") const { return folder_ + "/" + name; }

 private:
  std::string folder_ = (std::filesystem::temp_directory_path() / "tamis_test_XXXXXX").string();
};

}  // namespace tamis::test
