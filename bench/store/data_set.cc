#include "store/data_set.h"

#include <charconv>
#include <cstring>

#include "base/hash.h"
#include "base/random.h"
#include "store/contestant.h"

namespace tamis::bench {
namespace {

constexpr std::size_t kPoolBytes = std::size_t{256} << 10;  // Fits the core's cache.
constexpr std::size_t kPiece = 50;                          // Random bytes, then as many equal ones.
constexpr std::string_view kSite = "https://www.example.org/catalogue/section-";
constexpr std::uint64_t kSections = 90;

void append(KeyText& key, std::string_view text) {
  std::memcpy(key.bytes.data() + key.size, text.data(), text.size());
  key.size += text.size();
}

void append_number(KeyText& key, std::uint64_t number) {
  store_be(key.bytes.data() + key.size, number);
  key.size += sizeof number;
}

void append_hex(KeyText& key, std::uint64_t number) {
  for (int shift = 60; shift >= 0; shift -= 4) key.bytes[key.size++] = "0123456789abcdef"[number >> shift & 15];
}

std::uint64_t hex_number(std::string_view digits) {
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number;
}

}  // namespace

DataSet::DataSet(Keys keys, std::size_t value_bytes) : keys_(keys), value_bytes_(value_bytes) {
  SplitMix64 random(2);
  while (pool_.size() < kPoolBytes + value_bytes) {
    for (std::size_t i = 0; i < kPiece; ++i) pool_.push_back(static_cast<char>(random.next()));
    pool_.append(kPiece, 'v');
  }
}

KeyText DataSet::key(std::uint64_t number) const {
  KeyText key;
  switch (keys_) {
    case Keys::kRandom: append_number(key, remix(number + 1)); break;
    case Keys::kAscending: append_number(key, number); break;
    case Keys::kUrls: {
      const std::uint64_t section = 10 + remix(number + 1) % kSections;
      append(key, kSite);
      key.bytes[key.size++] = static_cast<char>('0' + section / 10);
      key.bytes[key.size++] = static_cast<char>('0' + section % 10);
      append(key, "/item/");
      append_hex(key, remix(number + 1));
      append(key, "?id=");
      append_hex(key, number);
      return key;
    }
  }
  append_number(key, number);
  return key;
}

std::string_view DataSet::value(std::uint64_t number, std::uint64_t version) const {
  const std::uint64_t at = fast_range(remix(number * kVersions + version + 1), kPoolBytes);
  return std::string_view(pool_).substr(at, value_bytes_);
}

bool DataSet::belongs(std::string_view key, std::string_view value) const {
  if (key.size() < 16) return false;
  const std::uint64_t number =
      keys_ == Keys::kUrls ? hex_number(key.substr(key.size() - 16)) : load_be<std::uint64_t>(key.data() + 8);
  return this->key(number).view() == key && belongs(number, value);
}

bool DataSet::belongs(std::uint64_t number, std::string_view value) const {
  for (std::uint64_t version = 0; version < kVersions; ++version) {
    if (this->value(number, version) == value) return true;
  }
  return false;
}

void Tally::check(std::string_view key, std::string_view value) {
  if (entries > 0 && last_key >= key) stop("a scan went backwards");
  if (!checks->belongs(key, value)) stop("a scan showed a value that is not its key's");
  last_key = key;
}

}  // namespace tamis::bench
