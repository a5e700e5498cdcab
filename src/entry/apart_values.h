// Values that are not in their entries.
#pragma once

#include <string>
#include <string_view>

#include "tamis/status.h"

namespace tamis {

/// Reads the values to which entries point.
///
/// Threads: one at a time.
class ApartValues {
 public:
  virtual ~ApartValues() = default;
  virtual Status read(std::string_view key, std::string_view pointer, std::string& to) = 0;
};

}  // namespace tamis
