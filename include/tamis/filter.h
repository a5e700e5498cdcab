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
#include <vector>

#include "tamis/export.h"
#include "tamis/filter_math.h"
#include "tamis/status.h"

namespace tamis {

/// What a filter kind can do; one row per kind, in the order of the registry.
struct FilterKindInfo {
  std::uint8_t id;           ///< In files for ever.
  std::string_view name;     ///< In options and commands.
  std::string_view summary;  ///< When to choose it.
  bool adds;                 ///< Keys may be added after it was made (MutableFilter).
  bool removes;
  bool merges;
  bool intersects;
  std::uint32_t build_bytes_per_key;  ///< Working memory of a build, the 8-byte hashes included.
};

/// All kinds of this build.
TAMIS_EXPORT std::span<const FilterKindInfo> filter_kinds();

/// Which part of a key a filter is about: all of it, its first N bytes, or everything up to and including the first
/// byte C. A key in which the rule finds no end is its own prefix.
struct TAMIS_EXPORT PrefixRule {
  enum class Kind : std::uint8_t { kNone = 0, kFirst = 1, kUntil = 2 };
  Kind kind = Kind::kNone;
  std::uint16_t argument = 0;  ///< N for kFirst (1 … 65535), the byte for kUntil.

  /// Reads "none", "first:N" or "until:C", C being one character or 0xHH.
  static Result<PrefixRule> parse(std::string_view text);
  [[nodiscard]] std::string to_text() const;
  /// The part of the key that is hashed.
  [[nodiscard]] std::string_view prefix_of(std::string_view key) const;
  /// Whether every key that begins with `scan_prefix` has the same prefix_of, so that a scan may ask the filter.
  [[nodiscard]] bool decides(std::string_view scan_prefix) const;

  friend bool operator==(const PrefixRule&, const PrefixRule&) = default;
};

/// How keys become hashes: by a public seed that anybody can use, or by 16 secret bytes.
struct FilterSeed {
  std::uint64_t seed = 0;
  std::optional<std::array<std::byte, 16>> key = {};  ///< Set: keyed, and `seed` is not used.

  friend bool operator==(const FilterSeed&, const FilterSeed&) = default;
};

/// Exactly one of target_rate, bits_per_key and memory_bytes may be set; none means a rate of 1 %.
struct FilterOptions {
  std::string kind = "line";
  std::optional<double> target_rate = {};
  std::optional<double> bits_per_key = {};
  std::optional<std::uint64_t> memory_bytes = {};
  /// MutableFilter: the number of keys to make room for. Only a scalable filter, which grows, can do without; the
  /// others exceed their rate beyond it or, like cuckoo, are full. Ignored by FilterBuilder.
  std::uint64_t capacity = 0;
  FilterSeed seed = {};
  PrefixRule prefix_rule = {};
};

/// What is known of a filter from its header and a look at its bits.
struct FilterInfo {
  std::string_view kind;
  std::string_view layout;  ///< "list" where a tiny set is kept as fingerprints, else the kind's own: "".
  std::uint64_t keys = 0;   ///< Added, duplicates that were noticed not counted.
  std::uint64_t bytes = 0;  ///< All of it, header included.
  std::uint64_t bits = 0;   ///< Of the filter itself.
  std::uint32_t hashes = 0;
  double fill = 0;  ///< Part of the bits (or slots) in use, 0 … 1.
  double estimated_keys = 0;
  double estimated_rate = 0;  ///< From the bits as they are now.
  double designed_rate = 0;   ///< From the sizing.
  FilterSeed seed;
  PrefixRule prefix_rule;
};

/// The functions and numbers a probe needs, prepared once when a filter is opened; a plain value, so that a probe
/// is one indirect call and no pointer chase. What is in `state` is the kind's own affair.
///
/// Threads: constant; valid as long as the filter's bytes.
struct FilterProbe {
  static constexpr std::size_t kStateBytes = 192;

  bool (*may_contain_fn)(const FilterProbe&, std::uint64_t hash) = nullptr;
  void (*may_contain_many_fn)(const FilterProbe&, const std::uint64_t* hashes, std::size_t count,
                              std::uint64_t* answers) = nullptr;
  void (*prefetch_fn)(const FilterProbe&, std::uint64_t hash) = nullptr;
  alignas(64) std::array<std::byte, kStateBytes> state = {};

  [[nodiscard]] bool may_contain(std::uint64_t hash) const { return may_contain_fn(*this, hash); }
  /// Starts loading what `may_contain` will need.
  void prefetch(std::uint64_t hash) const { prefetch_fn(*this, hash); }
  /// Bit i of answers[i / 64] becomes the answer for hashes[i]; unused bits of the last word become 0.
  void may_contain_many(std::span<const std::uint64_t> hashes, std::uint64_t* answers) const {
    may_contain_many_fn(*this, hashes.data(), hashes.size(), answers);
  }
};

class Filter;
class FilterImage;  // A filter's header and bytes; src/filter/filter_image.h.
class OpenFilter;   // What stands behind an open filter; src/filter/open_filter.h.
Result<Filter> open_filter(FilterImage image, std::string_view name);

/// An immutable filter: bytes that were checked once, when it was opened or built, and are trusted from then on.
///
/// Threads: any number may probe at once. Copies share the bytes.
class TAMIS_EXPORT Filter {
 public:
  /// Maps a file in tamis's container and checks all of it: kCorruption names the file and what is wrong.
  static Result<Filter> open(const std::string& path);
  /// The same for bytes in memory, which are copied. `name` is what error messages call them.
  static Result<Filter> from_bytes(std::span<const std::byte> bytes, std::string_view name = "filter");

  /// False: the key was certainly never added.
  [[nodiscard]] bool may_contain(std::string_view key) const;
  [[nodiscard]] bool may_contain_hash(std::uint64_t hash) const { return probe_.may_contain(hash); }
  void prefetch_hash(std::uint64_t hash) const { probe_.prefetch(hash); }
  /// Bit i of answers[i / 64] is the answer for key i; answers must have room for one bit per key.
  void may_contain_many(std::span<const std::uint64_t> hashes, std::uint64_t* answers) const {
    probe_.may_contain_many(hashes, answers);
  }
  void may_contain_many(std::span<const std::string_view> keys, std::uint64_t* answers) const;

  /// Whether any key that begins with `scan_prefix` may be there. Only a filter with a prefix rule can say no.
  [[nodiscard]] bool may_contain_prefix(std::string_view scan_prefix) const;

  /// The hash this filter knows the key by; filters with the same seed and prefix rule share it.
  [[nodiscard]] std::uint64_t hash(std::string_view key) const;

  [[nodiscard]] FilterInfo info() const;
  /// The whole container, as `save` writes it. Lives as long as this filter or a copy of it.
  [[nodiscard]] std::span<const std::byte> bytes() const;
  /// Replaces the file in one step.
  Status save(const std::string& path) const;
  [[nodiscard]] const FilterProbe& probe() const { return probe_; }

 private:
  friend Result<Filter> open_filter(FilterImage image, std::string_view name);
  explicit Filter(std::shared_ptr<const OpenFilter> open);

  FilterProbe probe_;
  bool hashes_plainly_;  // By public seed 0 and the whole key.
  std::shared_ptr<const OpenFilter> open_;
};

/// Collects keys, 8 bytes each, and sizes the filter when all are there. Duplicates are welcome.
///
/// Threads: one at a time.
class TAMIS_EXPORT FilterBuilder {
 public:
  explicit FilterBuilder(FilterOptions options = {});
  ~FilterBuilder();
  FilterBuilder(FilterBuilder&&) noexcept;
  FilterBuilder& operator=(FilterBuilder&&) noexcept;

  void add(std::string_view key);
  /// For callers that hash already; the hash must be the one of this builder's seed and prefix rule.
  void add_hash(std::uint64_t hash);
  [[nodiscard]] std::uint64_t hash(std::string_view key) const;
  /// Hashes held so far; equal neighbours count once.
  [[nodiscard]] std::uint64_t keys() const;

  /// Builds the filter and empties the builder. Bad options are reported here.
  Result<Filter> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class MutableFilter;
Result<MutableFilter> open_mutable_filter(FilterImage image, std::string_view name);

/// A filter that changes: add, remove where the kind can, union and intersection of alike filters.
///
///     auto seen = tamis::MutableFilter::create({.kind = "cuckoo", .target_rate = 0.001, .capacity = 1'000'000});
///     if (seen->may_contain(message_id)) …
///     tamis::Status added = seen->add(message_id);
///
/// Threads: one at a time; `freeze` gives a Filter for many.
class TAMIS_EXPORT MutableFilter {
 public:
  /// Makes room for options.capacity keys. kNotSupported for kinds that are built once (line, ribbon, fuse);
  /// kInvalidArgument for a capacity of 0 and a kind that does not grow.
  static Result<MutableFilter> create(const FilterOptions& options);
  static Result<MutableFilter> open(const std::string& path);
  static Result<MutableFilter> from_bytes(std::span<const std::byte> bytes, std::string_view name = "filter");

  MutableFilter(MutableFilter&&) noexcept;
  MutableFilter& operator=(MutableFilter&&) noexcept;
  ~MutableFilter();

  /// kOutOfSpace when a cuckoo filter is full, or holds eight copies of the key; nothing is changed then.
  Status add(std::string_view key) { return add_hash(hash(key)); }
  Status add_hash(std::uint64_t hash);
  /// True when it was there and one copy is gone; false when it certainly never was. Removing a key that was not
  /// added but answers maybe removes another key's mark: only remove what you added. A key that was added to a counting
  /// filter 15 times or more stays for ever: remove still says true, and info().keys goes on counting it.
  Result<bool> remove(std::string_view key) { return remove_hash(hash(key)); }
  Result<bool> remove_hash(std::uint64_t hash);

  [[nodiscard]] bool may_contain(std::string_view key) const { return may_contain_hash(hash(key)); }
  [[nodiscard]] bool may_contain_hash(std::uint64_t hash) const { return probe_.may_contain(hash); }

  /// This becomes the union; kInvalidArgument unless kind, size and seed are the same.
  Status merge(const MutableFilter& other);
  /// This becomes the intersection: it answers maybe where both did.
  Status intersect(const MutableFilter& other);
  void clear();

  [[nodiscard]] double estimated_keys() const { return info().estimated_keys; }
  [[nodiscard]] double estimated_rate() const { return info().estimated_rate; }
  [[nodiscard]] double fill() const { return info().fill; }

  [[nodiscard]] std::uint64_t hash(std::string_view key) const;
  [[nodiscard]] FilterInfo info() const;
  Status save(const std::string& path) const;
  /// An immutable copy as of now.
  [[nodiscard]] Filter freeze() const;

 private:
  friend Result<MutableFilter> open_mutable_filter(FilterImage image, std::string_view name);
  explicit MutableFilter(std::unique_ptr<OpenFilter> open);
  void follow_moved_bytes(const std::byte* before);

  FilterProbe probe_;
  std::unique_ptr<OpenFilter> open_;
};

}  // namespace tamis
