// A filter to which many threads add at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tamis/export.h"
#include "tamis/filter.h"
#include "tamis/status.h"

namespace tamis {

/// A Bloom filter (the kinds bloom, line and split) to which many threads add without a lock, while others ask.
///
///     auto seen = tamis::ConcurrentFilter::create({.kind = "line", .target_rate = 0.01, .capacity = 10'000'000});
///     // In any number of threads:
///     seen->add(url);
///     if (!seen->may_contain(other)) …
///     tamis::Filter filter = seen->freeze();
///
/// Bits are only ever set, so no key is lost whatever the order. A filter that was default-constructed or moved from is
/// empty: it always answers maybe and ignores keys.
///
/// Threads: any number may add, ask and freeze concurrently. Creating, moving and destroying need the filter alone.
class TAMIS_EXPORT ConcurrentFilter {
 public:
  /// Creates a filter for options.capacity keys. Returns kNotSupported for other kinds, kInvalidArgument for a capacity
  /// of 0.
  static Result<ConcurrentFilter> create(const FilterOptions& options);

  /// Empty: always answers maybe.
  ConcurrentFilter() noexcept;
  /// Moves the bits; the source becomes empty.
  ConcurrentFilter(ConcurrentFilter&&) noexcept;
  /// Like the constructor; releases the bits this filter had.
  ConcurrentFilter& operator=(ConcurrentFilter&&) noexcept;
  /// Releases the bits.
  ~ConcurrentFilter();

  /// Adds a key.
  void add(std::string_view key) { add_hash(hash(key)); }
  /// Same for a key whose hash() is known.
  void add_hash(std::uint64_t hash);
  /// False: no add of this key has happened before this call.
  [[nodiscard]] bool may_contain(std::string_view key) const { return may_contain_hash(hash(key)); }
  /// Same for a key whose hash() is known.
  [[nodiscard]] bool may_contain_hash(std::uint64_t hash) const;

  /// The hash of a key; 0 for an empty filter.
  [[nodiscard]] std::uint64_t hash(std::string_view key) const;
  /// How often add was called; exact once the adding threads are done.
  [[nodiscard]] std::uint64_t keys() const;
  /// An immutable copy, with every key whose add has happened before. It answers faster than this filter.
  [[nodiscard]] Filter freeze() const;

 private:
  struct State;
  std::unique_ptr<State> state_;  // Null: empty.
};

}  // namespace tamis
