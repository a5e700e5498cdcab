// Exclusive use of one file that is replaced by renaming.
#pragma once

#include <string>

#include "io/descriptor.h"
#include "tamis/status.h"

namespace tamis {

/// While it lives, nobody else has a claim on the file. It belongs to the file, not to its name: after the name was
/// given to another file, `follow` claims that one.
///
/// Threads: as a value.
class FileClaim {
 public:
  /// kBusy if another claim lives, in this process or another.
  static Result<FileClaim> take(const std::string& path);

  /// Claims nothing.
  FileClaim() : file_(-1) {}

  /// Claims the file that has this name now; kBusy if somebody else was faster.
  Status follow(const std::string& path);

 private:
  explicit FileClaim(Descriptor file) : file_(std::move(file)) {}
  [[nodiscard]] bool is_named(const std::string& path) const;

  Descriptor file_;
};

}  // namespace tamis
