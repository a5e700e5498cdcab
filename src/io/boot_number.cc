#include "io/boot_number.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace tamis {
namespace {

/// The first half of the kernel's id.
std::uint64_t read_boot_number() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(file, text);
  std::erase(text, '-');
  std::uint64_t number = 0;
  const char* const end = text.data() + std::min<std::size_t>(text.size(), 16);
  return std::from_chars(text.data(), end, number, 16).ec == std::errc() ? number : 0;
}

}  // namespace

std::uint64_t boot_number() {
  static const std::uint64_t number = read_boot_number();
  return number;
}

}  // namespace tamis
