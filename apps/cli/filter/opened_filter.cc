#include "cli/filter/opened_filter.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "cli/error.h"
#include "cli/files.h"
#include "cli/numbers.h"

namespace tamis::cli {
namespace {

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
