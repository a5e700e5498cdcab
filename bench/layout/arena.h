// Memory for memtables: handed out in order, never moved, freed at once.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/check.h"

namespace tamis::layout {

/// A place in an arena is a 32-bit number of 8-byte units, so that an index need not hold pointers. Address space is
/// reserved at once and filled as it is used; the store would chain chunks.
class Arena {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  static constexpr std::size_t kUnit = 8;

  Arena() {
    void* memory =
        ::mmap(nullptr, kMostBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TAMIS_CHECK(memory != MAP_FAILED);
    (void)::madvise(memory, kMostBytes, MADV_HUGEPAGE);
    base_ = static_cast<char*>(memory);
  }
  ~Arena() { (void)::munmap(base_, kMostBytes); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Eight-byte aligned, zeroed.
  std::uint32_t allocate(std::size_t bytes) {
    const std::size_t place = used_ / kUnit;
    used_ += (bytes + kUnit - 1) / kUnit * kUnit;
    TAMIS_CHECK(used_ <= kMostBytes);
    return static_cast<std::uint32_t>(place);
  }
  [[nodiscard]] char* at(std::uint32_t place) const { return base_ + std::size_t{place} * kUnit; }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  char* base_;
  std::size_t used_ = 0;
};

/// What both memtables store of an entry: its sequence, its lengths, key and value.
struct Record {
  std::uint64_t sequence_and_kind;
  std::uint32_t key_bytes;
  std::uint32_t value_bytes;

  static std::size_t bytes_for(std::string_view key, std::string_view value) {
    return sizeof(Record) + key.size() + value.size();
  }
  static void write(char* to, std::uint64_t sequence, std::string_view key, std::string_view value) {
    const Record record = {sequence << 3 | 1, static_cast<std::uint32_t>(key.size()),
                           static_cast<std::uint32_t>(value.size())};
    std::memcpy(to, &record, sizeof record);
    std::memcpy(to + sizeof record, key.data(), key.size());
    std::memcpy(to + sizeof record + key.size(), value.data(), value.size());
  }
  [[nodiscard]] std::string_view key() const { return {reinterpret_cast<const char*>(this + 1), key_bytes}; }
  [[nodiscard]] std::string_view value() const { return {key().data() + key_bytes, value_bytes}; }
};

}  // namespace tamis::layout
