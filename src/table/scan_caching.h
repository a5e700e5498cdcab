// Whether the blocks that a scan reads go into the cache.
#pragma once

namespace tamis {

/// Fixed, or as a flag says that changes during the scan and outlives it.
///
/// Threads: one.
class ScanCaching {
 public:
  ScanCaching(bool fills_cache) : fills_cache_(fills_cache ? &kAlways : &kNever) {}  // NOLINT: a bool says it all.
  explicit ScanCaching(const bool* fills_cache) : fills_cache_(fills_cache) {}

  [[nodiscard]] bool fills_cache() const { return *fills_cache_; }

 private:
  static constexpr bool kAlways = true;
  static constexpr bool kNever = false;

  const bool* fills_cache_;
};

}  // namespace tamis
