// The public API and the registry: guessing the format of a file, opening, probing and building.
#include "tamis/foreign.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/nearest_word.h"
#include "base/try.h"
#include "filter/formats/classic.h"
#include "filter/open_filter.h"
#include "io/file.h"

namespace tamis::foreign {
namespace {

/// In the order shown to users.
constexpr const Format* kFormats[] = {&kCassandraNewFormat, &kCassandraOldFormat, &kCassandraOldH1H2Format,
                                      &kRocksDbTableFormat, &kRocksDbRawFormat,   &kLevelDbTableFormat,
                                      &kLevelDbRawFormat,   &kBadgerFormat,       &kSparkFormat,
                                      &kGuavaFormat,        &kParquetFormat,      &kSbbfThriftFormat,
                                      &kSbbfFormat,         &kGoBloomFormat,      &kGoBloomJsonFormat,
                                      &kGoArticleFormat,    &kGoArticleLeFormat,  &kGoArticleJsonFormat,
                                      &kLabFormat,          &kLessonFormat,       &kPyChapterFormat};

using Candidates = std::vector<const Format*>;

std::string names_of(const Candidates& candidates) {
  std::string names;
  for (const Format* format : candidates) names.append(names.empty() ? "" : ", ").append(format->info.name);
  return names;
}

/// The format implied by an ending that only one system uses. Null: none.
const Format* promised_by_ending(std::string_view name) {
  if (name.ends_with(".parquet")) return &kParquetFormat;
  if (name.ends_with(".ldb")) return &kLevelDbTableFormat;
  if (name.ends_with(".sst")) return &kRocksDbTableFormat;
  return nullptr;
}

/// The one format that matches name and content. Returns kInvalidArgument, naming the candidates, if there are several
/// or only weak ones: reading a filter in the wrong format would turn "maybe" into "no".
Result<const Format*> guess_format(const Input& input) {
  // Only the name distinguishes Cassandra's three layouts, and shows that a file is older than all of them.
  if (input.name.ends_with("Filter.db")) {
    const Result<std::string_view> layout = cassandra_format_of_name(input.name);
    if (layout.ok()) return find_format(*layout);
    if (layout.status().code() == StatusCode::kNotSupported) return layout.status();
  }
  Candidates strong;
  Candidates possible;
  for (const Format* format : kFormats) {
    const Fit fit = format->fit(input);
    if (fit == Fit::kStrong) strong.push_back(format);
    if (fit == Fit::kPossible) possible.push_back(format);
  }
  if (strong.size() == 1) return strong.front();
  // The ending decides between several matches, and which error to report if the content matches nothing.
  const Format* const promised = promised_by_ending(input.name);
  if (promised != nullptr && (strong.empty() || std::find(strong.begin(), strong.end(), promised) != strong.end()))
    return promised;
  if (!strong.empty()) {
    return Status::invalid_argument(
        fmt::format("{}: several formats fit, say which: {}", input.name, names_of(strong)));
  }
  if (possible.empty()) return Status::corruption(fmt::format("{}: no known filter format matches", input.name));
  return Status::invalid_argument(
      fmt::format("{}: nothing in the file tells its format, say which; possible: {}", input.name, names_of(possible)));
}

Status refuse_unused(const BuildOptions& options, ParameterSet takes) {
  struct Row {
    ParameterSet parameter;
    bool given;
    std::string_view name;
  };
  const Row rows[] = {
      {kTakesExpectedKeys, options.expected_keys.has_value(), "a number of expected keys"},
      {kTakesRate, options.fpr.has_value(), "a false-positive rate"},
      {kTakesBits, options.bits.has_value(), "a number of bits"},
      {kTakesHashes, options.hashes.has_value(), "a number of hashes"},
      {kTakesBitsPerKey, options.bits_per_key.has_value(), "bits per key"},
      {kTakesWords, options.words.has_value(), "a number of words"},
      {kTakesBlocks, options.blocks.has_value(), "a number of blocks"},
      {kTakesSeed, options.seed.has_value(), "a seed"},
      {kTakesVariant, !options.variant.empty(), "a variant"},
  };
  for (const Row& row : rows) {
    if (row.given && (takes & row.parameter) == 0) {
      return Status::invalid_argument(fmt::format("{} does not take {}", options.format, row.name));
    }
  }
  return {};
}

/// kInvalidArgument for a parameter that the format does not use, an invalid rate, or a size above kMaxBuildBits.
Status check_parameters(const BuildOptions& options, ParameterSet takes) {
  TAMIS_TRY_STATUS(refuse_unused(options, takes));
  // Written so that NaN fails.
  const bool one_is_fine = (takes & kTakesRateOfOne) != 0;
  if (options.fpr && !(*options.fpr > 0 && (*options.fpr < 1 || (one_is_fine && *options.fpr == 1)))) {
    return Status::invalid_argument(fmt::format("a false-positive rate must be between 0 and 1, not {}", *options.fpr));
  }
  if (options.bits_per_key && !(*options.bits_per_key > 0 && *options.bits_per_key <= 1000)) {
    return Status::invalid_argument(
        fmt::format("bits per key must be between 0 and 1000, not {}", *options.bits_per_key));
  }
  if (options.expected_keys && *options.expected_keys > kMaxBuildBits) {
    return Status::invalid_argument(fmt::format("too many expected keys: {}", *options.expected_keys));
  }
  return {};
}

}  // namespace

Result<const Format*> find_format(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Format* format : kFormats) {
    if (format->info.name == name) return format;
    names.push_back(format->info.name);
  }
  const std::optional<std::string_view> guess = nearest_word(name, names);
  return Status::invalid_argument(
      guess ? fmt::format("unknown format '{}'; did you mean '{}'?", name, *guess)
            : fmt::format("unknown format '{}'; the formats are {}", name, fmt::join(names, ", ")));
}

std::span<const FormatInfo> formats() {
  static const auto infos = [] {
    std::array<FormatInfo, std::size(kFormats)> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = kFormats[i]->info;
    return all;
  }();
  return infos;
}

/// A file's bytes, mapped or copied, and the probe that refers to them.
struct ForeignFilter::Image {
  MappedFile file;
  std::string copy;
  std::string name;
  Bytes bytes;
  const Format* format = nullptr;
  ProbePtr probe;  // Last, so that it is destroyed before what it refers to.
};

ForeignFilter::ForeignFilter(std::shared_ptr<const Image> image) : image_(std::move(image)) {}

Result<ForeignFilter> ForeignFilter::open(const std::string& path, const OpenOptions& options) {
  auto image = std::make_shared<Image>();
  TAMIS_TRY(image->file, MappedFile::open(path));
  image->name = path;
  image->bytes = image->file.bytes();
  return open_image(std::move(image), options);
}

Result<ForeignFilter> ForeignFilter::from_bytes(std::span<const std::byte> bytes, const OpenOptions& options,
                                                std::string_view name) {
  auto image = std::make_shared<Image>();
  image->name = name;
  image->copy = as_text(bytes);
  image->bytes = as_bytes(image->copy);
  return open_image(std::move(image), options);
}

Result<ForeignFilter> ForeignFilter::open_image(std::shared_ptr<Image> image, const OpenOptions& options) {
  const Input input = {image->bytes, image->name, options};
  TAMIS_TRY(image->format, options.format.empty() ? guess_format(input) : find_format(options.format));
  TAMIS_TRY(image->probe, image->format->open(input));
  return ForeignFilter(std::move(image));
}

bool ForeignFilter::may_contain(std::string_view key) const {
  return image_ == nullptr || image_->probe->may_contain(key);
}

ForeignInfo ForeignFilter::info() const {
  ForeignInfo info;
  if (image_ == nullptr) {
    info.estimated_rate = 1;
    return info;
  }
  info.format = image_->format->info.name;
  info.bytes = image_->bytes.size();
  image_->probe->describe(info);
  return info;
}

Result<std::string> ForeignFilter::convert_to(std::string_view name) const {
  if (image_ == nullptr) return no_filter();
  TAMIS_TRY(const Format* const to, find_format(name));
  const Format& from = *image_->format;
  if (to->build == nullptr) return Status::not_supported(fmt::format("{} can be read, not written", to->info.name));
  if (from.family.empty() || from.family != to->family) {
    return Status::not_supported(fmt::format(
        "{}: {} cannot become {}: each sets other bits for a key, and the keys are not in the file; build it "
        "from the keys",
        image_->name, from.info.name, to->info.name));
  }
  const std::optional<PlainBits> plain = image_->probe->plain_bits();
  if (!plain) return Status::not_supported(fmt::format("{}: there are no bits to convert", image_->name));
  return to->rewrite(*plain);
}

Result<std::string> build(std::span<const std::string> keys, const BuildOptions& options) {
  TAMIS_TRY(const Format* const format, find_format(options.format));
  if (format->build == nullptr) {
    return Status::not_supported(fmt::format("{} can be read, not written", format->info.name));
  }
  TAMIS_TRY_STATUS(check_parameters(options, format->takes));
  if (options.item == "bytes" || options.item == "string") return format->build(keys, options);
  std::vector<std::string> items;
  items.reserve(keys.size());
  for (const std::string& key : keys) {
    TAMIS_TRY(std::string item, item_bytes(key, options.item));
    items.push_back(std::move(item));
  }
  return format->build(items, options);
}

Result<OpenOptions> open_options_of_built(std::uint64_t keys, const BuildOptions& options) {
  TAMIS_TRY(const Format* const format, find_format(options.format));
  OpenOptions open = {.format = options.format};
  if (!format->info.needs_bits_to_probe && !format->info.needs_hashes_to_probe) return open;
  TAMIS_TRY(const BloomShape shape, format->size(options, keys_to_size_for(options, keys)));
  if (format->info.needs_bits_to_probe) open.bits = shape.bits;
  if (format->info.needs_hashes_to_probe) open.hashes = shape.hashes;
  return open;
}

Result<std::string> item_bytes(std::string_view key, std::string_view item) {
  if (item == "bytes" || item == "string") return std::string(key);
  if (item != "long") {
    return Status::invalid_argument(fmt::format("item must be bytes, string or long, not \"{}\"", item));
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
  if (error == std::errc() && end == key.data() + key.size()) {
    std::string bytes;
    append_le(bytes, static_cast<std::uint64_t>(number));
    return bytes;
  }
  if (key.size() == sizeof number) return std::string(key);
  return Status::invalid_argument(fmt::format("\"{}\" is neither a 64-bit decimal number nor 8 bytes", key));
}

}  // namespace tamis::foreign
