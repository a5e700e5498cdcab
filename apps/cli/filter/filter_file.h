// A filter file of any origin: opening it, and what is known about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "cli/command_line.h"
#include "tamis/filter.h"
#include "tamis/foreign.h"
#include "text/json.h"

namespace tamis::cli {

/// Common to tamis's own and foreign filters; nullopt where a file does not say.
struct FilterFacts {
  std::optional<std::string> kind = {};
  std::string format;  ///< "tamis" or the name of a foreign format.
  std::string detail;  ///< A layout within the kind or format; often empty.
  std::optional<std::uint64_t> keys = {};
  std::uint64_t bits = 0;
  std::uint32_t hashes = 0;
  std::uint64_t bytes = 0;
  double fill = 0;
  double estimated_keys = 0;
  double estimated_rate = 0;
  std::optional<double> designed_rate = {};
  bool is_keyed = false;
  std::optional<std::int64_t> seed = {};  ///< A chosen public seed.
  std::string prefix_rule = {};           ///< Empty if there is none.
  std::string needed_to_probe = {};       ///< Probe options that a file just built lacks; often empty.

  /// Counted, or else estimated from the bits, if possible.
  [[nodiscard]] std::optional<std::uint64_t> best_keys() const;
  [[nodiscard]] std::optional<double> bits_per_key() const;
  [[nodiscard]] JsonObject json() const;
  /// "line filter, 1,000 keys, 1.25 KiB, 10.2 bits/key, 1.00 % false positives".
  [[nodiscard]] std::string summary() const;
};

FilterFacts facts_of(const FilterInfo& info);
FilterFacts facts_of(const foreign::ForeignInfo& info);
/// For a foreign filter just built from this many keys, if known; `open` is what opens it again.
FilterFacts facts_of_built(std::string_view bytes, const foreign::OpenOptions& open, std::optional<std::uint64_t> keys);

/// The item type for foreign::item_bytes: with --hex, a long is already its 8 bytes, which are not digits to parse.
inline std::string item_as_read(const std::string& item, const CommonOptions& options) {
  return options.hex && item == "long" ? "bytes" : item;
}

/// Reports what was written: on standard output, or on standard error if the filter itself went to standard output.
void report_written(const std::string& output, const FilterFacts& facts, const CommonOptions& options);

/// A file's format, and what the file does not say about itself.
struct OpenArguments {
  std::string path;
  foreign::OpenOptions options;

  void declare(CommandLine& line);
};

/// A file in tamis's container or in a foreign format, checked and ready for lookups.
class OpenedFilter {
 public:
  /// Throws a CommandError that names the file. Also reads pipes, which the library cannot map.
  explicit OpenedFilter(const OpenArguments& arguments);

  [[nodiscard]] bool may_contain(std::string_view key) const;
  [[nodiscard]] FilterFacts facts() const;
  /// The same bits in another format. Throws a CommandError with the reason if that is impossible.
  [[nodiscard]] std::string convert_to(const std::string& format) const;

 private:
  std::string path_;
  std::variant<Filter, foreign::ForeignFilter> filter_;
};

}  // namespace tamis::cli
