// A file without a name.
#pragma once

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/check.h"

namespace tamis::layout {

/// A new file in TMPDIR that is gone with its last descriptor.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::string name = fmt::format("{}/layout_bench.XXXXXX", folder());
    descriptor_ = ::mkstemp(name.data());
    TAMIS_CHECK(descriptor_ >= 0);
    TAMIS_CHECK(::unlink(name.c_str()) == 0);
  }
  ~TemporaryFile() { ::close(descriptor_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  static std::string folder() {
    const char* named = std::getenv("TMPDIR");
    return named == nullptr ? "/tmp" : named;
  }
  int descriptor_;
};

}  // namespace tamis::layout
