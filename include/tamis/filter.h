// Filters: small summaries of a set of keys that answer "certainly not" or "maybe".
//
//     tamis::FilterBuilder builder({.kind = "ribbon", .target_rate = 0.004});
//     for (const std::string& word : words) builder.add(word);
//     tamis::Result<tamis::Filter> filter = builder.finish();
//     if (!filter->may_contain("zebra")) { /* certainly not a word */ }
//
// Immutable filters are built once (FilterBuilder), then are bytes: saved, mapped, probed from any number of threads.
// MutableFilter adds and, where the kind can, removes keys and joins filters.
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
  bool merges = false;                    ///< Two filters can be united.
  bool intersects = false;                ///< Two filters can be intersected.
  std::uint32_t build_bytes_per_key = 8;  ///< Working memory of a build, including the 8-byte hashes.
};

/// All filter kinds, one element each.
TAMIS_EXPORT std::span<const FilterKindInfo> filter_kinds();

/// How keys are hashed: with a public seed that anybody can use, or with 16 secret bytes.
struct FilterSeed {
  std::uint64_t seed = 0;                             ///< The public seed.
  std::optional<std::array<std::byte, 16>> key = {};  ///< The secret bytes. If set, `seed` is not used.

  /// Equal seeds give equal hashes.
  friend bool operator==(const FilterSeed&, const FilterSeed&) = default;
};

/// What filter to make. At most one of target_rate, bits_per_key and memory_bytes may be set; none means a rate of 1 %.
struct FilterOptions {
  std::string kind = "line";                       ///< A name of filter_kinds().
  std::optional<double> target_rate = {};          ///< The false-positive rate to stay below, between 0 and 1.
  std::optional<double> bits_per_key = {};         ///< The size in bits per key.
  std::optional<std::uint64_t> memory_bytes = {};  ///< The size in bytes, including the header.
  /// MutableFilter: the number of keys to make room for. Only a scalable filter, which grows, can do without; the
  /// others exceed their rate beyond it or, like cuckoo, are full. Ignored by FilterBuilder.
  std::uint64_t capacity = 0;
  FilterSeed seed = {};         ///< How keys are hashed.
  PrefixRule prefix_rule = {};  ///< Which part of a key is hashed.
};

/// What a filter's header and bits say about it.
struct FilterInfo {
  std::string_view kind;      ///< A name of filter_kinds(); empty for an empty Filter.
  std::string_view layout;    ///< "list" if a tiny set is stored as fingerprints, otherwise empty.
  std::uint64_t keys = 0;     ///< Keys added; duplicates that were noticed do not count.
  std::uint64_t bytes = 0;    ///< The whole container, including the header.
  std::uint64_t bits = 0;     ///< The filter without the header.
  std::uint32_t hashes = 0;   ///< Probes per key; for fingerprint kinds, bits per fingerprint.
  double fill = 0;            ///< The part of the bits or slots in use, 0 … 1.
  double estimated_keys = 0;  ///< Estimated from the fill.
  double estimated_rate = 0;  ///< The false-positive rate, estimated from the current bits.
  double designed_rate = 0;   ///< The false-positive rate it was sized for.
  FilterSeed seed;            ///< How keys are hashed.
  PrefixRule prefix_rule;     ///< Which part of a key is hashed.
};

/// The functions and numbers a probe needs, prepared once when a filter is opened. A plain value, so that a probe is
/// one indirect call and no pointer chase. Only the filter kind knows what is in `state`. A new FilterProbe answers
/// maybe to everything.
///
/// Threads: constant. Valid as long as the filter's bytes.
struct FilterProbe {
  static constexpr std::size_t kStateBytes = 192;  ///< The size of `state`.

  /// Tests one hash.
  bool (*may_contain_fn)(const FilterProbe&, std::uint64_t hash) = [](const FilterProbe&, std::uint64_t) {
    return true;
  };
  /// Tests many hashes.
  void (*may_contain_many_fn)(const FilterProbe&, const std::uint64_t* hashes, std::size_t count,
                              std::uint64_t* answers) = all_maybe;
  /// Starts loading what a test will need.
  void (*prefetch_fn)(const FilterProbe&, std::uint64_t hash) = [](const FilterProbe&, std::uint64_t) {};
  alignas(64) std::array<std::byte, kStateBytes> state = {};  ///< The kind's own numbers.

  /// False: no key with this hash was added.
  [[nodiscard]] bool may_contain(std::uint64_t hash) const { return may_contain_fn(*this, hash); }
  /// Starts loading the memory that `may_contain` will need.
  void prefetch(std::uint64_t hash) const { prefetch_fn(*this, hash); }
  /// Bit i of answers[i / 64] becomes the answer for hashes[i]; unused bits of the last word become 0.
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
class OpenFilter;   // What stands behind an open filter; src/filter/open_filter.h.
Result<Filter> open_filter(FilterImage image, std::string_view name);

/// An immutable filter: bytes that were checked once, when it was opened or built, and are trusted from then on.
///
/// A filter that was default-constructed or moved from is empty: it has no bytes and knows nothing, so it answers maybe
/// to everything, as a store does whose filter is missing. save() is kClosed.
///
/// Threads: any number may probe at once. Copies share the bytes.
class TAMIS_EXPORT Filter {
 public:
  /// Maps a file in tamis's container and checks all of it: kCorruption names the file and what is wrong.
  static Result<Filter> open(const std::string& path);
  /// The same for bytes in memory, which are copied. Error messages call them `name`.
  static Result<Filter> from_bytes(std::span<const std::byte> bytes, std::string_view name = "filter");

  /// Empty: answers maybe to everything.
  Filter() noexcept = default;
  /// Shares the bytes.
  Filter(const Filter&) = default;
  /// Shares the bytes.
  Filter& operator=(const Filter&) = default;
  /// Takes over the bytes of the other filter, which is empty then.
  Filter(Filter&& other) noexcept
      : probe_(std::exchange(other.probe_, {})),
        hashes_plainly_(std::exchange(other.hashes_plainly_, true)),
        open_(std::exchange(other.open_, nullptr)) {}
  /// The same; the bytes this filter had are released.
  Filter& operator=(Filter&& other) noexcept {
    const Filter taken(std::move(other));
    return *this = taken;
  }
  /// Releases the bytes with the last copy.
  ~Filter() = default;

  /// False: the key was certainly never added.
  [[nodiscard]] bool may_contain(std::string_view key) const;
  /// The same for a key whose hash() is known.
  [[nodiscard]] bool may_contain_hash(std::uint64_t hash) const { return probe_.may_contain(hash); }
  /// Starts loading the memory that may_contain_hash will need.
  void prefetch_hash(std::uint64_t hash) const { probe_.prefetch(hash); }
  /// Bit i of answers[i / 64] becomes the answer for hash i; `answers` must have room for one bit per hash, in whole
  /// words.
  void may_contain_many(std::span<const std::uint64_t> hashes, std::uint64_t* answers) const {
    probe_.may_contain_many(hashes, answers);
  }
  /// The same for keys.
  void may_contain_many(std::span<const std::string_view> keys, std::uint64_t* answers) const;

  /// False: no key that begins with `scan_prefix` was added. Only a filter with a prefix rule can say so.
  [[nodiscard]] bool may_contain_prefix(std::string_view scan_prefix) const;

  /// The hash this filter knows the key by; filters with the same seed and prefix rule share it. 0 for an empty filter.
  [[nodiscard]] std::uint64_t hash(std::string_view key) const;

  /// What the header and the bits say. An empty filter has no kind, no bytes and a rate of 1.
  [[nodiscard]] FilterInfo info() const;
  /// The whole container, as save() writes it. Lives as long as this filter or a copy of it.
  [[nodiscard]] std::span<const std::byte> bytes() const;
  /// Writes the container to a file, which is replaced in one step. kClosed for an empty filter.
  Status save(const std::string& path) const;
  /// The probe alone, for callers that keep many of them together. Valid as long as this filter or a copy of it.
  [[nodiscard]] const FilterProbe& probe() const { return probe_; }

 private:
  friend Result<Filter> open_filter(FilterImage image, std::string_view name);
  explicit Filter(std::shared_ptr<const OpenFilter> open);

  FilterProbe probe_;
  bool hashes_plainly_ = true;                   // By public seed 0 and the whole key.
  std::shared_ptr<const OpenFilter> open_ = {};  // Null: empty, and then probe_ answers maybe.
};

/// Collects keys, 8 bytes each, and sizes the filter when all are there. Duplicates are welcome.
///
/// A builder that was moved from ignores keys, and finish() is kClosed.
///
/// Threads: one at a time.
class TAMIS_EXPORT FilterBuilder {
 public:
  /// Bad options are reported by finish().
  explicit FilterBuilder(FilterOptions options = {});
  /// Drops the keys.
  ~FilterBuilder();
  /// Takes over options and keys.
  FilterBuilder(FilterBuilder&&) noexcept;
  /// The same; the keys this builder had are dropped.
  FilterBuilder& operator=(FilterBuilder&&) noexcept;

  /// Adds a key.
  void add(std::string_view key);
  /// Adds a key by its hash(), for callers that have it.
  void add_hash(std::uint64_t hash);
  /// The hash of a key with this builder's seed and prefix rule; 0 for a builder that was moved from.
  [[nodiscard]] std::uint64_t hash(std::string_view key) const;
  /// How many hashes it holds; equal neighbours count once.
  [[nodiscard]] std::uint64_t keys() const;

  /// Builds the filter and empties the builder, which can be used again with the same options.
  Result<Filter> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class MutableFilter;
Result<MutableFilter> open_mutable_filter(FilterImage image, std::string_view name);

/// A filter that changes: add, remove where the kind can, union and intersection of filters of the same shape.
///
///     auto seen = tamis::MutableFilter::create({.kind = "cuckoo", .target_rate = 0.001, .capacity = 1'000'000});
///     if (seen->may_contain(message_id)) …
///     tamis::Status added = seen->add(message_id);
///
/// A filter that was default-constructed or moved from is empty in the sense of Filter: it answers maybe to everything,
/// and whatever would change or save it is kClosed.
///
/// Threads: one at a time; `freeze` gives a Filter for many.
class TAMIS_EXPORT MutableFilter {
 public:
  /// Makes room for options.capacity keys. kNotSupported for kinds that are built once (line, ribbon, fuse);
  /// kInvalidArgument for a capacity of 0 and a kind that does not grow.
  static Result<MutableFilter> create(const FilterOptions& options);
  /// Reads a file that save() wrote, or Filter::save for a kind that can change.
  static Result<MutableFilter> open(const std::string& path);
  /// The same for bytes in memory, which are copied. Error messages call them `name`.
  static Result<MutableFilter> from_bytes(std::span<const std::byte> bytes, std::string_view name = "filter");

  /// Has no bytes: answers maybe to everything.
  MutableFilter() noexcept;
  /// Takes over the bytes of the other filter, which has none then.
  MutableFilter(MutableFilter&&) noexcept;
  /// The same; the bytes this filter had are released.
  MutableFilter& operator=(MutableFilter&&) noexcept;
  /// Releases the bytes.
  ~MutableFilter();

  /// Adds a key. kOutOfSpace when a cuckoo filter is full, or holds eight copies of the key; nothing is changed then.
  Status add(std::string_view key) { return add_hash(hash(key)); }
  /// The same for a key whose hash() is known.
  Status add_hash(std::uint64_t hash);
  /// Removes one copy of a key: true if one was there, false if the key was certainly never added. Remove only what you
  /// added: removing another key that answers maybe removes the mark of a key that was. A key that was added to a
  /// counting filter 15 times or more stays for ever: remove still says true, and info().keys goes on counting it.
  Result<bool> remove(std::string_view key) { return remove_hash(hash(key)); }
  /// The same for a key whose hash() is known.
  Result<bool> remove_hash(std::uint64_t hash);

  /// False: the key was certainly never added, or was removed.
  [[nodiscard]] bool may_contain(std::string_view key) const { return may_contain_hash(hash(key)); }
  /// The same for a key whose hash() is known.
  [[nodiscard]] bool may_contain_hash(std::uint64_t hash) const { return probe_.may_contain(hash); }

  /// Turns this into the union of both; kInvalidArgument unless kind, size and seed are the same.
  Status merge(const MutableFilter& other);
  /// Turns this into the intersection, which answers maybe where both did; the same must be equal as for merge.
  Status intersect(const MutableFilter& other);
  /// Forgets all keys.
  void clear();

  /// How many keys it holds, estimated from its bits.
  [[nodiscard]] double estimated_keys() const { return info().estimated_keys; }
  /// Its false-positive rate, estimated from its bits.
  [[nodiscard]] double estimated_rate() const { return info().estimated_rate; }
  /// The part of its bits or slots in use, 0 … 1.
  [[nodiscard]] double fill() const { return info().fill; }

  /// The hash this filter knows the key by; 0 if it has no bytes.
  [[nodiscard]] std::uint64_t hash(std::string_view key) const;
  /// What the header and the bits say.
  [[nodiscard]] FilterInfo info() const;
  /// Writes the container to a file, which is replaced in one step.
  Status save(const std::string& path) const;
  /// An immutable copy as of now.
  [[nodiscard]] Filter freeze() const;

 private:
  friend Result<MutableFilter> open_mutable_filter(FilterImage image, std::string_view name);
  explicit MutableFilter(std::unique_ptr<OpenFilter> open);
  void follow_moved_bytes(const std::byte* before);

  FilterProbe probe_;
  std::unique_ptr<OpenFilter> open_;  // Null: no bytes, and then probe_ answers maybe.
};

}  // namespace tamis
