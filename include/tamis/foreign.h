// Other systems' filter files, read and written byte for byte.
//
//     auto filter = tamis::foreign::ForeignFilter::open("nb-1-big-Filter.db");
//     if (filter.ok() && !filter->may_contain("user:42")) { /* certainly not in that table */ }
//
//     auto bytes = tamis::foreign::build(keys, {.format = "guava", .fpr = 0.01});
//
// For the formats, their parameters and what is rejected, see docs/FOREIGN.md or formats().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/export.h"
#include "tamis/status.h"

namespace tamis::foreign {

/// One format in the registry.
struct FormatInfo {
  std::string_view name = {};              ///< Used in options and commands, e.g. "cassandra-new".
  std::string_view system = {};            ///< The system that writes such files.
  std::string_view summary = {};           ///< What the file is.
  std::string_view build_parameters = {};  ///< The parameters of `build`, with defaults; empty if read-only.
  bool self_describing = true;             ///< The format can be recognised from the bytes.
  bool writable = false;                   ///< `build` supports it.
  bool needs_bits_to_probe = false;        ///< Requires OpenOptions::bits: the file lacks it.
  bool needs_hashes_to_probe = false;      ///< Requires OpenOptions::hashes.
};

/// All formats, in registry order.
TAMIS_EXPORT std::span<const FormatInfo> formats();

/// Parameters that the file does not hold.
struct OpenOptions {
  std::string format = {};                      ///< Empty: detected from name and content.
  std::optional<std::uint64_t> bits = {};       ///< pychapter.
  std::optional<std::uint32_t> hashes = {};     ///< pychapter, go-article and its variants.
  std::string column = {};                      ///< parquet: path in the schema, joined by '.'.
  std::optional<std::uint32_t> row_group = {};  ///< parquet: the row group; optional if there is only one.
};

/// What a foreign filter's header and bits reveal.
struct ForeignInfo {
  std::string_view format;    ///< A name of formats(); empty for an empty filter.
  std::string detail;         ///< Variant or special case, e.g. "FastLocalBloom", "V2", "always true"; may be empty.
  std::uint64_t bytes = 0;    ///< The size of the file.
  std::uint64_t bits = 0;     ///< The size of the filter itself; 0 when it has none.
  std::uint32_t hashes = 0;   ///< Probes per key; for Ribbon, columns.
  double fill = 0;            ///< The fraction of bits set, 0 … 1.
  double estimated_keys = 0;  ///< The number of keys, estimated from the fill.
  double estimated_rate = 0;  ///< The false-positive rate, estimated from the bits.
  std::optional<std::int64_t> seed = {};  ///< The hash seed, if the file holds one.
};

/// A filter written by another system. Opening checks all lengths. Answers equal those of the original system, and "no"
/// is certain as long as the bytes are unchanged.
///
/// A filter that was default-constructed or moved from is empty: it always answers maybe.
///
/// Threads: immutable after opening; any number may probe concurrently. Copies share the bytes.
class TAMIS_EXPORT ForeignFilter {
 public:
  /// Maps the file. kInvalidArgument: several formats fit (the message names them), or an out-of-band parameter is
  /// missing. kCorruption: damaged, truncated or oversized. kNotSupported: recognised, but not supported.
  static Result<ForeignFilter> open(const std::string& path, const OpenOptions& options = {});
  /// Same for bytes in memory, which are copied. Error messages call them `name`.
  static Result<ForeignFilter> from_bytes(std::span<const std::byte> bytes, const OpenOptions& options,
                                          std::string_view name = "filter");

  /// Empty: always answers maybe.
  ForeignFilter() noexcept = default;

  /// False: the key was never added. Pass the key as the original system hashes it: raw bytes, UTF-8 text, or the
  /// result of `item_bytes` for a number.
  [[nodiscard]] bool may_contain(std::string_view key) const;
  /// What the header and the bits reveal; scans every bit. An empty filter has no format and a rate of 1.
  [[nodiscard]] ForeignInfo info() const;
  /// Returns a file with the same bits in another format: within cassandra-new and -old, within the go-bloom,
  /// go-article or sbbf formats, or from parquet to sbbf. Otherwise returns kNotSupported with the reason: other
  /// formats set other bits for a key, and a filter does not hold its keys. kClosed for an empty filter.
  [[nodiscard]] Result<std::string> convert_to(std::string_view format) const;

 private:
  struct Image;
  explicit ForeignFilter(std::shared_ptr<const Image> image);
  static Result<ForeignFilter> open_image(std::shared_ptr<Image> image, const OpenOptions& options);

  std::shared_ptr<const Image> image_;
};

/// What to build. Missing values follow from the others by the original system's own rules. Values that a format does
/// not use are rejected rather than ignored.
struct BuildOptions {
  std::string format = {};                          ///< A name of formats().
  std::optional<std::uint64_t> expected_keys = {};  ///< The number of keys to size for; default: all keys.
  std::optional<double> fpr = {};                   ///< The false-positive rate to size for.
  std::optional<std::uint64_t> bits = {};           ///< The size in bits.
  std::optional<std::uint64_t> hashes = {};         ///< Probes per key.
  std::optional<double> bits_per_key = {};          ///< The size in bits per key.
  std::optional<std::uint64_t> words = {};          ///< 64-bit words: cassandra-*, spark, guava.
  std::optional<std::uint64_t> blocks = {};         ///< 32-byte blocks: sbbf, sbbf-thrift.
  std::optional<std::int64_t> seed = {};            ///< spark V2.
  std::string item = "bytes";                       ///< The type of a key: see item_bytes.
  std::string variant = {};                         ///< spark "V1", "V2"; rocksdb-raw "4", "5"; guava "64".
};

/// Returns the original system's file for these keys, added in this order. Without keys, it always answers no.
TAMIS_EXPORT Result<std::string> build(std::span<const std::string> keys, const BuildOptions& options);
/// The options that ForeignFilter::open needs for a file that `build` made from this many keys: the format, and bits
/// and hashes if the file does not hold them (pychapter, go-article). Keep them with the file.
TAMIS_EXPORT Result<OpenOptions> open_options_of_built(std::uint64_t keys, const BuildOptions& options);

/// The bytes that the JVM systems hash for an item. "bytes" and "string": the key itself. "long": the 8 little-endian
/// bytes of a decimal number; any other 8 bytes are used as they are.
TAMIS_EXPORT Result<std::string> item_bytes(std::string_view key, std::string_view item);

/// The Cassandra layout, of three, that the version letters of a file name imply; names can be wrong. kInvalidArgument
/// if the name has no version, kNotSupported if the version is older than all three.
TAMIS_EXPORT Result<std::string_view> cassandra_format_of_name(std::string_view path);

/// The partition keys of an Index.db ("big" tables), in file order.
TAMIS_EXPORT Result<std::vector<std::string>> cassandra_index_keys(const std::string& index_path);

/// The result of probing a filter for every key of its index.
struct VerifyReport {
  /// The overall result.
  enum class Verdict : std::uint8_t {
    kOk,              ///< The filter answers maybe for every key.
    kLayoutMismatch,  ///< Keys are missing in the named layout, but none in another.
    kDamaged,         ///< Keys are missing in every layout.
  };
  Verdict verdict = Verdict::kOk;    ///< The overall result.
  std::string_view implied_format;   ///< Implied by the file name; empty if none.
  std::string_view checked_format;   ///< The format that `missing` refers to: given, implied, or the best match.
  std::uint64_t keys = 0;            ///< Number of keys in the index.
  std::vector<std::string> missing;  ///< Keys for which the filter answers no.
  std::vector<std::string_view> fitting_formats;  ///< Formats in which no key is missing; only checked_format if kOk.
};

/// "ok", "layout mismatch" or "damaged".
TAMIS_EXPORT std::string_view to_string(VerifyReport::Verdict verdict);

/// Probes the filter for every key of the index. `format` overrides the format implied by the name.
TAMIS_EXPORT Result<VerifyReport> cassandra_verify(const std::string& filter_path, const std::string& index_path,
                                                   std::string_view format = {});

/// How to size a rebuilt filter: like an existing one, or by keys and rate.
struct RebuildOptions {
  std::string format = {};                          ///< Empty: implied by the name of the index.
  std::optional<std::uint64_t> expected_keys = {};  ///< Default: the number of keys in the index.
  std::optional<double> fpr = {};                   ///< Default: 0.01.
  std::string like = {};  ///< Path of a Filter.db with the hashes and words to copy. Excludes the other two.
};

/// Returns the Filter.db for an Index.db, byte for byte as Cassandra writes it.
TAMIS_EXPORT Result<std::string> cassandra_rebuild(const std::string& index_path, const RebuildOptions& options);

}  // namespace tamis::foreign
