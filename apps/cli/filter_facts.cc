#include "filter_facts.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdio>

#include "json.h"
#include "numbers.h"
#include "output.h"

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

std::uint64_t FilterFacts::best_keys() const {
  if (keys) return *keys;
  const bool is_countable = std::isfinite(estimated_keys) && estimated_keys >= 0 && estimated_keys < 0x1p63;
  return is_countable ? static_cast<std::uint64_t>(std::llround(estimated_keys)) : 0;
}

std::optional<double> FilterFacts::bits_per_key() const {
  if (best_keys() == 0) return std::nullopt;
  return static_cast<double>(bits) / static_cast<double>(best_keys());
}

std::string FilterFacts::json() const {
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
      .add("prefix_rule", prefix_rule.empty() ? std::nullopt : std::optional(prefix_rule))
      .text();
}

std::string FilterFacts::summary() const {
  std::string text = fmt::format("{} filter, {}{} keys, {}", format == "tamis" ? kind.value_or(format) : format,
                                 keys ? "" : "about ", with_thousands(best_keys()), human_bytes(bytes));
  if (const auto per_key = bits_per_key()) text += fmt::format(", {:.2f} bits/key", *per_key);
  return text + fmt::format(", {} false positives", human_rate(designed_rate.value_or(estimated_rate)));
}

void report_written(const std::string& output, const FilterFacts& facts, const CommonOptions& options) {
  if (options.quiet) return;
  const std::string text = options.json ? facts.json() : fmt::format("{}: {}", output, facts.summary());
  if (output == "-") {
    fmt::print(stderr, "{}\n", text);
  } else {
    standard_output().print("{}\n", text);
  }
}

}  // namespace tamis::cli
