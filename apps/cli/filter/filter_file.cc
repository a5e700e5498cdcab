#include "cli/filter/filter_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "cli/error.h"
#include "cli/files.h"
#include "cli/numbers.h"
#include "cli/output.h"

namespace tamis::cli {
namespace {

/// In tamis's terms; nullopt for filters without bits, such as "always true".
std::optional<std::string> kind_of(const foreign::ForeignInfo& info) {
  if (info.bits == 0) return std::nullopt;
  if (info.detail.find("Ribbon") != std::string::npos) return "ribbon";
  return info.format == "parquet" || info.format.starts_with("sbbf") ? "split" : "bloom";
}

using AnyFilter = std::variant<Filter, foreign::ForeignFilter>;

constexpr std::string_view kOwnFormat = "tamis";
constexpr std::string_view kMagic = "TAMISFLT";

/// Whether a file begins like tamis's container, even if damaged. A damaged container must not pass for a foreign
/// format without a magic number: its answers would be noise.
bool resembles_container(std::string_view head) {
  head = head.substr(0, kMagic.size());
  std::size_t equal = 0;
  for (std::size_t i = 0; i < head.size(); ++i) equal += head[i] == kMagic[i] ? 1 : 0;
  return !head.empty() && equal >= std::min(head.size(), std::size_t{5});
}

bool is_own(std::string_view head, const foreign::OpenOptions& options) {
  return options.format.empty() ? resembles_container(head) : options.format == kOwnFormat;
}

/// The options that answer the library's question; empty if it asks none.
std::string_view options_for(std::string_view message) {
  const auto asks = [&](std::string_view question) { return message.find(question) != std::string_view::npos; };
  if (asks("say which column")) return "with --column and --row-group";
  if (asks("give the number of bits and of hashes")) return "with --bits and --hashes";
  if (asks("give the number of hashes")) return "with --hashes";
  if (asks("say which")) return "with --format; 'tamis filter formats' lists them";
  return {};
}

/// Adds the command's option names, which the library does not know.
foreign::ForeignFilter need_foreign(Result<foreign::ForeignFilter> opened, bool is_empty, const std::string& name,
                                    const foreign::OpenOptions& options) {
  if (opened.status().code() != StatusCode::kInvalidArgument) return need(std::move(opened));
  if (is_empty && options.format.empty()) {
    throw CommandError(kExitCorruption,
                       fmt::format("{}: is empty, so it holds no filter; if its format allows an empty file, name "
                                   "the format with --format",
                                   name));
  }
  const std::string_view answer = options_for(opened.status().message());
  if (answer.empty()) return need(std::move(opened));
  usage_error(fmt::format("{} ({})", opened.status().message(), answer));
}

AnyFilter from_bytes(const std::string& bytes, const std::string& name, const foreign::OpenOptions& options) {
  const auto span = std::as_bytes(std::span(bytes));
  if (is_own(bytes, options)) return need(Filter::from_bytes(span, name));
  return need_foreign(foreign::ForeignFilter::from_bytes(span, options, name), bytes.empty(), name, options);
}

AnyFilter open_any(const std::string& path, const foreign::OpenOptions& options) {
  InputFile file(path);
  if (path == "-" || !file.is_regular()) return from_bytes(read_rest(file), file.name(), options);
  std::array<char, kMagic.size()> head;
  const std::string_view begin(head.data(), file.read(head));
  if (is_own(begin, options)) return need(Filter::open(path));
  return need_foreign(foreign::ForeignFilter::open(path, options), begin.empty(), path, options);
}

}  // namespace

FilterFacts facts_of(const FilterInfo& info) {
  FilterFacts facts = {.kind = std::string(info.kind),
                       .format = "tamis",
                       .detail = std::string(info.layout),
                       .keys = info.keys,
                       .bits = info.bits,
                       .hashes = info.hashes,
                       .bytes = info.bytes,
                       .fill = info.fill,
                       .estimated_keys = info.estimated_keys,
                       .estimated_rate = info.estimated_rate,
                       .designed_rate = info.designed_rate,
                       .is_keyed = info.seed.key.has_value(),
                       .seed = static_cast<std::int64_t>(info.seed.seed)};
  if (info.prefix_rule.kind != PrefixRule::Kind::kNone) facts.prefix_rule = info.prefix_rule.to_text();
  return facts;
}

FilterFacts facts_of(const foreign::ForeignInfo& info) {
  return {.kind = kind_of(info),
          .format = std::string(info.format),
          .detail = info.detail,
          .bits = info.bits,
          .hashes = info.hashes,
          .bytes = info.bytes,
          .fill = info.fill,
          .estimated_keys = info.estimated_keys,
          .estimated_rate = info.estimated_rate,
          .seed = info.seed};
}

FilterFacts facts_of_built(std::string_view bytes, const foreign::OpenOptions& open,
                           std::optional<std::uint64_t> keys) {
  const foreign::ForeignFilter opened =
      need(foreign::ForeignFilter::from_bytes(std::as_bytes(std::span(bytes)), open, "the filter just built"));
  FilterFacts facts = facts_of(opened.info());
  facts.keys = keys;
  if (open.bits) facts.needed_to_probe += fmt::format(" --bits {}", *open.bits);
  if (open.hashes) facts.needed_to_probe += fmt::format(" --hashes {}", *open.hashes);
  return facts;
}

std::optional<std::uint64_t> FilterFacts::best_keys() const {
  if (keys) return keys;
  // A filter with all bits set has room for infinitely many keys.
  const bool is_countable = bits > 0 && estimated_keys >= 0 && estimated_keys < 0x1p63;
  if (!is_countable) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(estimated_keys));
}

std::optional<double> FilterFacts::bits_per_key() const {
  const std::optional<std::uint64_t> count = best_keys();
  if (bits == 0 || count.value_or(0) == 0) return std::nullopt;
  return static_cast<double>(bits) / static_cast<double>(*count);
}

JsonObject FilterFacts::json() const {
  return JsonObject()
      .add("kind", kind)
      .add("format", format)
      .add("detail", detail.empty() ? std::nullopt : std::optional(detail))
      .add("keys", best_keys())
      .add("keys_estimated", estimated_keys)
      .add("bits", bits)
      .add("bits_per_key", bits_per_key())
      .add("hashes", hashes)
      .add("bytes", bytes)
      .add("fill", fill)
      .add("fpr_estimated", estimated_rate)
      .add("fpr_designed", designed_rate)
      .add("seed", is_keyed ? "keyed" : "public")
      .add("prefix_rule", prefix_rule.empty() ? std::nullopt : std::optional(prefix_rule));
}

std::string FilterFacts::summary() const {
  std::string text = fmt::format("{} filter", format == "tamis" ? kind.value_or(format) : format);
  if (const auto count = best_keys()) text += fmt::format(", {}{} keys", keys ? "" : "about ", with_thousands(*count));
  text += fmt::format(", {}", human_bytes(bytes));
  if (const auto per_key = bits_per_key()) text += fmt::format(", {:.2f} bits/key", *per_key);
  if (bits > 0) text += fmt::format(", {} false positives", human_rate(designed_rate.value_or(estimated_rate)));
  if (!needed_to_probe.empty()) text += fmt::format("; to probe it, pass{}, which the file lacks", needed_to_probe);
  return text;
}

void report_written(const std::string& output, const FilterFacts& facts, const CommonOptions& options) {
  if (options.quiet) return;
  const std::string text = options.json ? facts.json().text() : fmt::format("{}: {}", output, facts.summary());
  if (output == "-") {
    fmt::print(stderr, "{}\n", text);
  } else {
    standard_output().print("{}\n", text);
  }
}

void OpenArguments::declare(CommandLine& line) {
  line.operand("FILE", "the filter, or - for standard input", path);
  line.option("--format", "F", "its format, if not detected; 'tamis filter formats' lists them", options.format);
  line.option("--bits", "M", "number of bits, if not in the file", options.bits, parse_count);
  line.option("--hashes", "K", "number of hashes, if not in the file", options.hashes, parse_small_count);
  line.option("--column", "NAME", "parquet: the column, if several have a filter", options.column);
  line.option("--row-group", "N", "parquet: the row group, if several have a filter", options.row_group,
              parse_small_count);
}

OpenedFilter::OpenedFilter(const OpenArguments& arguments)
    : path_(arguments.path), filter_(open_any(arguments.path, arguments.options)) {}

bool OpenedFilter::may_contain(std::string_view key) const {
  return std::visit([&](const auto& filter) { return filter.may_contain(key); }, filter_);
}

std::string OpenedFilter::convert_to(const std::string& format) const {
  const auto* const foreign = std::get_if<foreign::ForeignFilter>(&filter_);
  if (foreign != nullptr && format != kOwnFormat) return need(foreign->convert_to(format));
  usage_error(
      fmt::format("{}: only tamis's filters hash keys with XXH3, so their bits cannot be converted; build the filter "
                  "from the keys",
                  path_));
}

FilterFacts OpenedFilter::facts() const {
  return std::visit([](const auto& filter) { return facts_of(filter.info()); }, filter_);
}

}  // namespace tamis::cli
