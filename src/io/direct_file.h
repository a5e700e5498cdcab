// Reads that bypass the kernel's page cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/aligned_bytes.h"
#include "base/bytes.h"
#include "io/file_system.h"
#include "tamis/status.h"

namespace tamis {

/// What the kernel demands of such reads: offset, length and memory are multiples of this. A page: all known devices
/// have smaller sectors.
inline constexpr std::uint64_t kDirectAlignment = 4096;

/// The aligned bytes around a read, in memory of its own: what is wanted rarely lies at aligned addresses.
///
/// Threads: one.
class DirectRead {
 public:
  DirectRead(std::uint64_t offset, MutableBytes to);

  /// False if there is no memory.
  [[nodiscard]] bool has_memory() const { return memory_.size() != 0; }
  [[nodiscard]] std::uint64_t offset() const { return begin_; }
  [[nodiscard]] MutableBytes bytes() { return aligned_; }
  /// Of the aligned bytes, `there` were read. Copies those that are wanted, and returns how many.
  [[nodiscard]] std::size_t finish(std::size_t there);

 private:
  const std::uint64_t begin_;
  const std::size_t skipped_;  // Aligned bytes before the wanted ones.
  const MutableBytes to_;
  AlignedBytes memory_;
  MutableBytes aligned_;  // Of memory_.
};

/// Reads from another file aligned bytes alone.
///
/// Threads: any.
class DirectFile final : public ReadableFile {
 public:
  explicit DirectFile(std::unique_ptr<ReadableFile> file) : file_(std::move(file)) {}

  Result<std::size_t> read_at(std::uint64_t offset, MutableBytes to) const override;
  [[nodiscard]] Result<std::uint64_t> size() const override { return file_->size(); }
  [[nodiscard]] const ReadableFile& file() const { return *file_; }

 private:
  const std::unique_ptr<ReadableFile> file_;
};

}  // namespace tamis
