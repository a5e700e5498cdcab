// Other systems' filter files, read and written byte for byte.
//
//     auto filter = tamis::foreign::ForeignFilter::open("nb-1-big-Filter.db");
//     if (filter.ok() && !filter->may_contain("user:42")) { /* certainly not in that table */ }
//
//     auto bytes = tamis::foreign::build(keys, {.format = "guava", .fpr = 0.01});
//
// Which formats there are, what each needs and what is refused: docs/FOREIGN.md, or formats().
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

/// One format, as the registry knows it.
struct FormatInfo {
  std::string_view name = {};              ///< In options and commands, e.g. "cassandra-new".
  std::string_view system = {};            ///< Who writes such files.
  std::string_view summary = {};           ///< What the file is.
  std::string_view build_parameters = {};  ///< What `build` takes for it, with defaults; empty when read only.
  bool self_describing = true;             ///< A reader can tell this format from the bytes.
  bool writable = false;                   ///< `build` can make it.
  bool needs_bits_to_probe = false;        ///< OpenOptions::bits must be given: the file does not hold it.
  bool needs_hashes_to_probe = false;      ///< The same for OpenOptions::hashes.
};

/// All formats, in the order of the registry.
TAMIS_EXPORT std::span<const FormatInfo> formats();

/// What a reader cannot find in the file.
struct OpenOptions {
  std::string format = {};                      ///< Empty: guessed from name and content.
  std::optional<std::uint64_t> bits = {};       ///< pychapter.
  std::optional<std::uint32_t> hashes = {};     ///< pychapter, go-article and its variants.
  std::string column = {};                      ///< parquet: path in the schema, joined by '.'.
  std::optional<std::uint32_t> row_group = {};  ///< parquet: which row group; none if there is one only.
};

/// What is known of a foreign filter from its header and a look at its bits.
struct ForeignInfo {
  std::string_view format;    ///< A name of formats(); empty for an empty filter.
  std::string detail;         ///< Variant or special case, e.g. "FastLocalBloom", "V2", "always true"; may be empty.
  std::uint64_t bytes = 0;    ///< Of the whole file.
  std::uint64_t bits = 0;     ///< Of the filter itself; 0 when it has none.
  std::uint32_t hashes = 0;   ///< Probes per key; for Ribbon, columns.
  double fill = 0;            ///< Part of the bits set, 0 … 1.
  double estimated_keys = 0;  ///< How many keys it holds, estimated from the fill.
  double estimated_rate = 0;  ///< Of false positives, from the bits as they are.
  std::optional<std::int64_t> seed = {};  ///< The seed of its hash, if the file holds one.
};

/// A filter some other system wrote. All lengths were checked when it was opened; the answers are the ones the
/// original gives, and "no" is certain as long as the bytes are those that were written.
///
/// A filter that was default-constructed or moved from is empty: it answers maybe to everything.
///
/// Threads: constant after opening; any number may probe at once. Copies share the bytes.
class TAMIS_EXPORT ForeignFilter {
 public:
  /// Maps the file. kInvalidArgument: more than one format fits (the message names them), or something out of band
  /// is missing. kCorruption: damaged, truncated, oversized. kNotSupported: understood, but not by us.
  static Result<ForeignFilter> open(const std::string& path, const OpenOptions& options = {});
  /// The same for bytes in memory, which are copied. `name` is what messages call them.
  static Result<ForeignFilter> from_bytes(std::span<const std::byte> bytes, const OpenOptions& options,
                                          std::string_view name = "filter");

  /// Empty: answers maybe to everything.
  ForeignFilter() noexcept = default;

  /// False: the key was certainly never added. The key is given as the original hashes it: raw bytes, UTF-8 text,
  /// or what `item_bytes` makes of a number.
  [[nodiscard]] bool may_contain(std::string_view key) const;
  /// What the header and the bits say; looks at every bit. An empty filter has no format and a rate of 1.
  [[nodiscard]] ForeignInfo info() const;
  /// The file that holds the same bits in another format: of cassandra-new and -old, of the go-bloom, go-article or
  /// sbbf formats, one from another; a parquet file becomes an sbbf. kNotSupported elsewhere, saying why: other formats
  /// set other bits for a key, and the keys are not in a filter. kClosed from an empty filter.
  [[nodiscard]] Result<std::string> convert_to(std::string_view format) const;

 private:
  struct Image;
  explicit ForeignFilter(std::shared_ptr<const Image> image);
  static Result<ForeignFilter> open_image(std::shared_ptr<Image> image, const OpenOptions& options);

  std::shared_ptr<const Image> image_;
};

/// What to build. Whatever is not given follows from the rest by the original's own rules; what a format has no use
/// for is refused, so that nobody believes it had an effect.
struct BuildOptions {
  std::string format = {};                          ///< A name of formats().
  std::optional<std::uint64_t> expected_keys = {};  ///< What it is sized for; the number of keys unless told.
  std::optional<double> fpr = {};                   ///< The false-positive rate to size for.
  std::optional<std::uint64_t> bits = {};           ///< The size in bits.
  std::optional<std::uint64_t> hashes = {};         ///< Probes per key.
  std::optional<double> bits_per_key = {};          ///< The size in bits per key.
  std::optional<std::uint64_t> words = {};          ///< 64-bit words: cassandra-*, spark, guava.
  std::optional<std::uint64_t> blocks = {};         ///< 32-byte blocks: sbbf, sbbf-thrift.
  std::optional<std::int64_t> seed = {};            ///< spark V2.
  std::string item = "bytes";                       ///< What a key is: see item_bytes.
  std::string variant = {};                         ///< spark "V1", "V2"; rocksdb-raw "4", "5"; guava "64".
};

/// The file the original would write for these keys, added in this order. No keys make a filter that answers no.
TAMIS_EXPORT Result<std::string> build(std::span<const std::string> keys, const BuildOptions& options);
/// What ForeignFilter::open must be told of the file that `build` makes from so many keys: the format, and the bits and
/// hashes where the file does not hold them (pychapter, go-article). Keep it with the file.
TAMIS_EXPORT Result<OpenOptions> open_options_of_built(std::uint64_t keys, const BuildOptions& options);

/// The bytes the JVM systems hash for an item. "bytes" and "string": the key itself. "long": decimal text becomes its
/// 8 little-endian bytes; 8 bytes that are no decimal number are taken to be such bytes already.
TAMIS_EXPORT Result<std::string> item_bytes(std::string_view key, std::string_view item);

/// Which of the three Cassandra layouts a file name promises, by its version letters; names can lie.
/// kInvalidArgument when the name has no version, kNotSupported when it is older than all three.
TAMIS_EXPORT Result<std::string_view> cassandra_format_of_name(std::string_view path);

/// The partition keys of an Index.db ("big" tables), in its order.
TAMIS_EXPORT Result<std::vector<std::string>> cassandra_index_keys(const std::string& index_path);

/// What became of asking a filter for every key of its index.
struct VerifyReport {
  /// What the answers amount to.
  enum class Verdict : std::uint8_t {
    kOk,              ///< Every key answers maybe.
    kLayoutMismatch,  ///< Not as named, but read in another layout every key does.
    kDamaged,         ///< Keys are missing in every layout.
  };
  Verdict verdict = Verdict::kOk;                 ///< What the answers amount to.
  std::string_view implied_format;                ///< By the file name; empty when it says nothing.
  std::string_view checked_format;                ///< The one `missing` is about: given, implied, or else the best.
  std::uint64_t keys = 0;                         ///< Keys of the index.
  std::vector<std::string> missing;               ///< Keys that the filter says were never added.
  std::vector<std::string_view> fitting_formats;  ///< In which no key is missing; only the checked one when kOk.
};

/// "ok", "layout mismatch" or "damaged".
TAMIS_EXPORT std::string_view to_string(VerifyReport::Verdict verdict);

/// Asks the filter for every key of the index. `format` overrides what the filter's name implies.
TAMIS_EXPORT Result<VerifyReport> cassandra_verify(const std::string& filter_path, const std::string& index_path,
                                                   std::string_view format = {});

/// How to size a rebuilt filter: like an existing one, or from keys and rate.
struct RebuildOptions {
  std::string format = {};                          ///< Empty: by the name of the index.
  std::optional<std::uint64_t> expected_keys = {};  ///< The number of keys in the index unless told.
  std::optional<double> fpr = {};                   ///< 0.01 unless told.
  std::string like = {};  ///< Path of a Filter.db: same hashes, same words. Excludes the other two.
};

/// The Filter.db that belongs to an Index.db, byte for byte as Cassandra writes it.
TAMIS_EXPORT Result<std::string> cassandra_rebuild(const std::string& index_path, const RebuildOptions& options);

}  // namespace tamis::foreign
