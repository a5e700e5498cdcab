// Values on their way to the memory of a C program.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "capi/status.h"

namespace tamis::capi {

/// A string that takes over the memory of the thread's last one, so that a get needs no memory here. A large one is not
/// kept.
///
/// Threads: one.
class PassedValue {
 public:
  static constexpr std::size_t kMostKept = std::size_t{64} << 10;

  PassedValue() : text_(std::move(last())) {}
  PassedValue(const PassedValue&) = delete;
  PassedValue& operator=(const PassedValue&) = delete;
  ~PassedValue() {
    if (text_.capacity() <= kMostKept) last() = std::move(text_);
  }

  std::string& text() { return text_; }

 private:
  static std::string& last() {
    thread_local std::string text;
    return text;
  }

  std::string text_;
};

/// Calls `get(std::string*)`, which returns Result<bool>, and gives the caller a copy of the value, NULL if absent.
template <typename Get>
Status give_value(Get get, char** value, std::size_t* size) {
  PassedValue passed;
  const Result<bool> found = get(&passed.text());
  if (!found.ok()) return found.status();
  return *found ? give_bytes(passed.text(), value, size) : Status();
}

/// The same into a buffer of the caller.
template <typename Get>
Status give_value_into(Get get, char* buffer, std::size_t capacity, std::size_t* size, bool* found) {
  PassedValue passed;
  const Result<bool> got = get(&passed.text());
  if (!got.ok()) return got.status();
  *found = *got;
  if (!*got) return {};
  const std::string& text = passed.text();
  std::copy_n(text.data(), std::min(capacity, text.size()), buffer);
  *size = text.size();
  return {};
}

}  // namespace tamis::capi
