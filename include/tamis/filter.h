// Filters: small summaries of a set of keys that answer "certainly not" or "maybe".
//
//     tamis::FilterBuilder builder({.kind = "ribbon", .target_rate = 0.004});
//     for (const std::string& word : words) builder.add(word);
//     tamis::Result<tamis::Filter> filter = builder.finish();
//     if (!filter->may_contain("zebra")) { /* certainly not a word */ }
//
// Immutable filters are built once (FilterBuilder) and are then plain bytes: save them, map them, probe them from any
// thread. MutableFilter can also add keys and, depending on the kind, remove keys and merge filters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tamis/export.h"
#include "tamis/filter_math.h"
#include "tamis/prefix_rule.h"
#include "tamis/status.h"

namespace tamis {

/// What a filter kind can do.
struct FilterKindInfo {
  std::uint8_t id;                        ///< Its number in files; never reused.
  std::string_view name;                  ///< Its name in options and commands.
  std::string_view summary;               ///< When to choose it.
  bool adds = false;                      ///< Keys can be added to a finished filter (MutableFilter).
  bool removes = false;                   ///< Keys can be removed.
  bool merges = false;                    ///< Two filters can be merged.
  bool intersects = false;                ///< Two filters can be intersected.
  std::uint32_t build_bytes_per_key = 8;  ///< Working memory of a build, including 8 bytes per hash.
};

/// All filter kinds.
TAMIS_EXPORT std::span<const FilterKindInfo> filter_kinds();

/// How keys are hashed: with a public seed or with 16 secret bytes.
struct FilterSeed {
  std::uint64_t seed = 0;                             ///< The public seed.
  std::optional<std::array<std::byte, 16>> key = {};  ///< The secret bytes; if set, `seed` is ignored.

  /// Equal seeds give equal hashes.
  friend bool operator==(const FilterSeed&, const FilterSeed&) = default;
};

/// What filter to build. Set at most one of target_rate, bits_per_key and memory_bytes; none means a rate of 1 %.
struct FilterOptions {
  std::string kind = "line";                       ///< A name of filter_kinds().
  std::optional<double> target_rate = {};          ///< The max false-positive rate, between 0 and 1.
  std::optional<double> bits_per_key = {};         ///< The size in bits per key.
  std::optional<std::uint64_t> memory_bytes = {};  ///< The size in bytes, including the header.
  /// MutableFilter: the expected number of keys. Only growing and scalable, which grow, work without it. Beyond it, the
  /// others exceed their rate or, like cuckoo, are full. FilterBuilder ignores it.
  std::uint64_t capacity = 0;
  /// MutableFilter, scalable: how many times the keys of a layer the next one takes, 1 to 64; 2 if not set.
  std::optional<std::uint32_t> growth = {};
  /// MutableFilter, scalable: the most layers, 1 to 32; 32 if not set. When they are full, add returns kOutOfSpace.
  std::optional<std::uint32_t> most_layers = {};
  FilterSeed seed = {};         ///< How keys are hashed.
  PrefixRule prefix_rule = {};  ///< Which part of a key is hashed.
};

/// What a filter's header and bits reveal.
struct FilterInfo {
  std::string_view kind;      ///< A name of filter_kinds(); empty for an empty Filter.
  std::string_view layout;    ///< "list" if a tiny set is stored as fingerprints, else empty.
  std::uint64_t keys = 0;     ///< Keys added, not counting detected duplicates.
  std::uint64_t bytes = 0;    ///< The whole container, including the header.
  std::uint64_t bits = 0;     ///< The size without the header.
  std::uint32_t hashes = 0;   ///< Probes per key; for fingerprint kinds, bits per fingerprint.
  double fill = 0;            ///< The fraction of bits or slots in use, 0 … 1.
  double estimated_keys = 0;  ///< The number of keys, estimated from the fill.
  double estimated_rate = 0;  ///< The false-positive rate, estimated from the current bits.
  double designed_rate = 0;   ///< The false-positive rate it was sized for.
  FilterSeed seed;            ///< How keys are hashed.
  PrefixRule prefix_rule;     ///< Which part of a key is hashed.
};

/// The functions and parameters of a probe, prepared once when a filter is opened. A plain value: a probe is one
/// indirect call without pointer chasing. Only the filter kind knows the contents of `state`. By default it always
/// answers maybe.
///
/// Threads: immutable. Valid as long as the filter's bytes.
struct FilterProbe {
  static constexpr std::size_t kStateBytes = 192;  ///< The size of `state`.

  /// Tests one hash.
  bool (*may_contain_fn)(const FilterProbe&, std::uint64_t hash) = [](const FilterProbe&, std::uint64_t) {
    return true;
  };
  /// Tests many hashes.
  void (*may_contain_many_fn)(const FilterProbe&, const std::uint64_t* hashes, std::size_t count,
                              std::uint64_t* answers) = all_maybe;
  /// Prefetches what a test needs.
  void (*prefetch_fn)(const FilterProbe&, std::uint64_t hash) = [](const FilterProbe&, std::uint64_t) {};
  alignas(64) std::array<std::byte, kStateBytes> state = {};  ///< The kind's own parameters.

  /// False: no key with this hash was added.
  [[nodiscard]] bool may_contain(std::uint64_t hash) const { return may_contain_fn(*this, hash); }
  /// Prefetches the memory that `may_contain` needs.
  void prefetch(std::uint64_t hash) const { prefetch_fn(*this, hash); }
  /// Sets bit i of answers[i / 64] to the answer for hashes[i] and clears the unused bits of the last word.
  void may_contain_many(std::span<const std::uint64_t> hashes, std::uint64_t* answers) const {
    may_contain_many_fn(*this, hashes.data(), hashes.size(), answers);
  }

 private:
  static void all_maybe(const FilterProbe&, const std::uint64_t*, std::size_t count, std::uint64_t* answers) {
    for (; count >= 64; count -= 64) *answers++ = ~std::uint64_t{0};
    if (count > 0) *answers = (std::uint64_t{1} << count) - 1;
  }
};

class Filter;
class FilterImage;  // A filter's header and bytes; src/filter/filter_image.h.
class OpenFilter;   // The implementation; src/filter/open_filter.h.
Result<Filter> open_filter(FilterImage image, std::string_view name);

/// An immutable filter. Its bytes are checked once, when it is opened or built, and trusted afterwards.
///
/// A filter that was default-constructed or moved from is empty: it has no bytes and always answers maybe, like a store
/// whose filter is missing. save() returns kClosed.
///
/// Threads: any number may probe concurrently. Copies share the bytes.
class TAMIS_EXPORT Filter {
 public:
  /// Maps and fully checks a tamis filter file. kCorruption names the file and the defect. A file of the kind `sliced`
  /// may end where any of its slices does: it is then a filter with a higher rate, which info() tells.
  static Result<Filter> open(const std::string& path);
  /// Same for bytes in memory, which are copied. Error messages call them `name`.
  static Result<Filter> from_bytes(std::span<const std::byte> bytes, std::string_view name = "filter");

  /// Empty: always answers maybe.
  Filter() noexcept = default;
  /// Shares the bytes.
  Filter(const Filter&) = default;
  /// Shares the bytes.
  Filter& operator=(const Filter&) = default;
  /// Moves the bytes; the source becomes empty.
  Filter(Filter&& other) noexcept
      : probe_(std::exchange(other.probe_, {})),
        hashes_plainly_(std::exchange(other.hashes_plainly_, true)),
        open_(std::exchange(other.open_, nullptr)) {}
  /// Like the constructor; releases the bytes this filter had.
  Filter& operator=(Filter&& other) noexcept {
    const Filter taken(std::move(other));
    return *this = taken;
  }
  /// Releases the bytes with the last copy.
  ~Filter() = default;

  /// False: the key was never added.
  [[nodiscard]] bool may_contain(std::string_view key) const;
  /// Same for a key whose hash() is known.
  [[nodiscard]] bool may_contain_hash(std::uint64_t hash) const { return probe_.may_contain(hash); }
  /// Prefetches the memory that may_contain_hash needs.
  void prefetch_hash(std::uint64_t hash) const { probe_.prefetch(hash); }
  /// Sets bit i of answers[i / 64] to the answer for hash i. `answers` must hold one bit per hash, in whole words.
  void may_contain_many(std::span<const std::uint64_t> hashes, std::uint64_t* answers) const {
    probe_.may_contain_many(hashes, answers);
  }
  /// Same for keys.
  void may_contain_many(std::span<const std::string_view> keys, std::uint64_t* answers) const;

  /// False: no key with this prefix was added. Requires a prefix rule.
  [[nodiscard]] bool may_contain_prefix(std::string_view scan_prefix) const;

  /// The hash of a key; the same for filters with equal seeds and prefix rules. 0 for an empty filter.
  [[nodiscard]] std::uint64_t hash(std::string_view key) const;

  /// What the header and the bits reveal. An empty filter has no kind, no bytes and a rate of 1.
  [[nodiscard]] FilterInfo info() const;
  /// The whole container, as save() writes it. Valid as long as this filter or a copy of it.
  [[nodiscard]] std::span<const std::byte> bytes() const;
  /// Writes the container to a file, replacing it atomically. kClosed for an empty filter.
  Status save(const std::string& path) const;
  /// The probe alone, for callers that store many together. Valid as long as this filter or a copy of it.
  [[nodiscard]] const FilterProbe& probe() const { return probe_; }

 private:
  friend Result<Filter> open_filter(FilterImage image, std::string_view name);
  explicit Filter(std::shared_ptr<const OpenFilter> open);

  FilterProbe probe_;
  bool hashes_plainly_ = true;                   // With public seed 0 and the whole key.
  std::shared_ptr<const OpenFilter> open_ = {};  // Null: empty; probe_ then answers maybe.
};

/// Collects keys, 8 bytes each, and sizes the filter at the end. Duplicates are allowed.
///
/// A builder that was moved from ignores keys; its finish() returns kClosed.
///
/// Threads: one at a time.
class TAMIS_EXPORT FilterBuilder {
 public:
  /// finish() reports invalid options.
  explicit FilterBuilder(FilterOptions options = {});
  /// Drops the keys.
  ~FilterBuilder();
  /// Moves options and keys.
  FilterBuilder(FilterBuilder&&) noexcept;
  /// Like the constructor; drops the keys this builder had.
  FilterBuilder& operator=(FilterBuilder&&) noexcept;

  /// Adds a key.
  void add(std::string_view key);
  /// Adds a key by its hash().
  void add_hash(std::uint64_t hash);
  /// The hash of a key with this builder's seed and prefix rule; 0 after a move.
  [[nodiscard]] std::uint64_t hash(std::string_view key) const;
  /// The number of hashes held; equal neighbours count once.
  [[nodiscard]] std::uint64_t keys() const;

  /// Builds the filter and empties the builder, which is reusable with the same options.
  Result<Filter> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class MutableFilter;
Result<MutableFilter> open_mutable_filter(FilterImage image, std::string_view name);

/// A filter that supports add and, depending on the kind, remove, merge and intersect.
///
///     auto seen = tamis::MutableFilter::create({.kind = "cuckoo", .target_rate = 0.001, .capacity = 1'000'000});
///     if (seen->may_contain(message_id)) …
///     tamis::Status added = seen->add(message_id);
///
/// A filter that was default-constructed or moved from is empty, like an empty Filter: it always answers maybe, and
/// changing or saving it returns kClosed.
///
/// Threads: one at a time; `freeze` returns a Filter for many.
class TAMIS_EXPORT MutableFilter {
 public:
  /// Creates a filter for options.capacity keys. Returns kNotSupported for kinds that are built once (ribbon, fuse,
  /// sliced), kInvalidArgument for a capacity of 0 if the kind does not grow.
  static Result<MutableFilter> create(const FilterOptions& options);
  /// Opens a file written by save(), or by Filter::save for a mutable kind.
  static Result<MutableFilter> open(const std::string& path);
  /// Same for bytes in memory, which are copied. Error messages call them `name`.
  static Result<MutableFilter> from_bytes(std::span<const std::byte> bytes, std::string_view name = "filter");

  /// Empty: always answers maybe.
  MutableFilter() noexcept;
  /// Moves the bytes; the source becomes empty.
  MutableFilter(MutableFilter&&) noexcept;
  /// Like the constructor; releases the bytes this filter had.
  MutableFilter& operator=(MutableFilter&&) noexcept;
  /// Releases the bytes.
  ~MutableFilter();

  /// Adds a key. Returns kOutOfSpace, changing nothing, if a cuckoo filter is full or holds eight copies of the key, or
  /// if a growing or scalable one has grown as often as it can.
  Status add(std::string_view key) { return add_hash(hash(key)); }
  /// Same for a key whose hash() is known.
  Status add_hash(std::uint64_t hash);
  /// Removes one copy of a key: true if it was present, false if it was never added. Remove only keys that were added:
  /// removing a false positive removes another key. A key added 15 times or more to a counting filter, or 16 times to a
  /// growing one, is permanent: remove still returns true, and info().keys still counts it.
  Result<bool> remove(std::string_view key) { return remove_hash(hash(key)); }
  /// Same for a key whose hash() is known.
  Result<bool> remove_hash(std::uint64_t hash);

  /// False: the key was never added, or was removed.
  [[nodiscard]] bool may_contain(std::string_view key) const { return may_contain_hash(hash(key)); }
  /// Same for a key whose hash() is known.
  [[nodiscard]] bool may_contain_hash(std::uint64_t hash) const { return probe_.may_contain(hash); }

  /// How many times a key may be there: never fewer than it was added and not removed, except that a counting filter
  /// counts to 15 and a growing one to 16. More by chance, as a false positive is. 0 or 1 for kinds that cannot remove.
  [[nodiscard]] std::uint64_t count(std::string_view key) const { return count_hash(hash(key)); }
  /// Same for a key whose hash() is known.
  [[nodiscard]] std::uint64_t count_hash(std::uint64_t hash) const;

  /// Replaces this filter with the union. kInvalidArgument unless kind, size and seed are equal.
  Status merge(const MutableFilter& other);
  /// Replaces this filter with the intersection: maybe where both answer maybe. Requirements as for merge.
  Status intersect(const MutableFilter& other);
  /// Removes all keys.
  void clear();

  /// The number of keys, estimated from the bits.
  [[nodiscard]] double estimated_keys() const { return info().estimated_keys; }
  /// The false-positive rate, estimated from the bits.
  [[nodiscard]] double estimated_rate() const { return info().estimated_rate; }
  /// The fraction of bits or slots in use, 0 … 1.
  [[nodiscard]] double fill() const { return info().fill; }

  /// The hash of a key; 0 for an empty filter.
  [[nodiscard]] std::uint64_t hash(std::string_view key) const;
  /// What the header and the bits reveal.
  [[nodiscard]] FilterInfo info() const;
  /// Writes the container to a file, replacing it atomically.
  Status save(const std::string& path) const;
  /// Returns an immutable copy.
  [[nodiscard]] Filter freeze() const;
  /// Up to `most_bytes` of what save() writes, from this offset on; empty at its end. The view is valid until the next
  /// change. FilterImport reads parts that were taken one after the other, and notices a change between two of them.
  [[nodiscard]] std::span<const std::byte> part(std::uint64_t offset, std::size_t most_bytes);

 private:
  friend Result<MutableFilter> open_mutable_filter(FilterImage image, std::string_view name);
  explicit MutableFilter(std::unique_ptr<OpenFilter> open);
  void follow_moved_bytes(const std::byte* before);

  FilterProbe probe_;
  std::unique_ptr<OpenFilter> open_;  // Null: empty; probe_ then answers maybe.
};

/// Makes a MutableFilter from the parts of another, in any process, without the whole in one buffer of the caller.
///
///     tamis::FilterImport import;
///     for (std::uint64_t at = 0; !(part = filter.part(at, 64 << 10)).empty(); at += part.size()) … import.add(part);
///     tamis::Result<tamis::MutableFilter> copy = import.finish();
///
/// Threads: one at a time.
class TAMIS_EXPORT FilterImport {
 public:
  /// Without any part.
  FilterImport();
  /// Drops what was added.
  ~FilterImport();
  /// Moves what was added; the source has no part.
  FilterImport(FilterImport&&) noexcept;
  /// Like the constructor; drops what this one had.
  FilterImport& operator=(FilterImport&&) noexcept;

  /// Adds the next part. The first has at least 128 bytes, which say how many follow. kCorruption for bytes behind the
  /// end, or a beginning that is no filter's; kNotSupported without memory for the filter.
  Status add(std::span<const std::byte> part);
  /// The filter, and empties the import. kInvalidArgument if parts are missing; kCorruption if the bytes are damaged or
  /// were changed between two parts.
  Result<MutableFilter> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;  // Null: no part yet.
};

}  // namespace tamis
