// For the programs that make and dump stores of other systems.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tamis::test {

/// Ends the program unless this is ok.
template <typename Status>
void need(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

inline std::string hex(const std::string& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4U];
    text += kDigits[static_cast<unsigned char>(byte) & 0xfU];
  }
  return text;
}

/// As 'tamis dump --hex' does.
template <typename Iterator>
void print_entries(Iterator& entry) {
  for (entry.SeekToFirst(); entry.Valid(); entry.Next()) {
    std::printf("%s\t%s\n", hex(entry.key().ToString()).c_str(), hex(entry.value().ToString()).c_str());
  }
  need(entry.status());
}

}  // namespace tamis::test
