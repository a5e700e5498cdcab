#include "cli/filter/facts.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdio>

#include "cli/error.h"
#include "cli/numbers.h"
#include "cli/output.h"

namespace tamis::cli {

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
                       .seed = static_cast<std::int64_t>(info.seed.seed),
                       .prefix_rule = ""};
  if (info.prefix_rule.kind != PrefixRule::Kind::kNone) facts.prefix_rule = info.prefix_rule.to_text();
  return facts;
}

namespace {

/// In tamis's terms; nullopt for filters without bits, such as "always true".
std::optional<std::string> kind_of(const foreign::ForeignInfo& info) {
  if (info.bits == 0) return std::nullopt;
  if (info.detail.find("Ribbon") != std::string::npos) return "ribbon";
  return info.format == "parquet" || info.format.starts_with("sbbf") ? "split" : "bloom";
}

}  // namespace

FilterFacts facts_of(const foreign::ForeignInfo& info) {
  return {.kind = kind_of(info),
          .format = std::string(info.format),
          .detail = info.detail,
          .keys = {},
          .bits = info.bits,
          .hashes = info.hashes,
          .bytes = info.bytes,
          .fill = info.fill,
          .estimated_keys = info.estimated_keys,
          .estimated_rate = info.estimated_rate,
          .designed_rate = {},
          .is_keyed = false,
          .seed = info.seed,
          .prefix_rule = ""};
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

}  // namespace tamis::cli
