// What is known about value files without opening them.
#pragma once

#include <cstdint>

namespace tamis {

/// A value file, as the manifest has it.
struct ValueFileFacts {
  std::uint64_t number = 0;      ///< Names the file; never reused in a store, for no kind of file.
  std::uint64_t file_bytes = 0;  ///< Header included.
  std::uint64_t created_unix_seconds = 0;

  friend bool operator==(const ValueFileFacts&, const ValueFileFacts&) = default;
};

/// What a table points to in one value file (rule 41).
struct ValuesOfTable {
  std::uint64_t file = 0;
  std::uint64_t bytes = 0;   ///< Stored, of all values that the table points to.
  std::uint64_t values = 0;  ///< Their number, at least 1.

  friend bool operator==(const ValuesOfTable&, const ValuesOfTable&) = default;
};

}  // namespace tamis
