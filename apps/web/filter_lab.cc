#include "web/filter_lab.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cli/error.h"
#include "cli/numbers.h"
#include "tamis/filter.h"
#include "text/byte_text.h"
#include "text/json.h"

namespace tamis::web {
namespace {

using cli::need;
using cli::usage_error;

constexpr std::uint64_t kMaxKeys = 100'000;
constexpr double kMaxBitsPerKey = 64;
constexpr std::size_t kShownBytes = 4096;  // Of a filter: what the page draws.
constexpr std::uint64_t kAbsentKeys = 20'000;

struct Question {
  FilterOptions options;
  std::vector<std::string> keys;
  std::optional<std::string> probe;
};

std::uint64_t count_of(const Parameters& parameters, const std::string& name, std::uint64_t least,
                       std::uint64_t otherwise) {
  const auto given = find_parameter(parameters, name);
  if (!given) return otherwise;
  const std::uint64_t count = cli::parse_count(name, *given);
  if (count < least || count > kMaxKeys) usage_error(fmt::format("{}: {} to {} here", name, least, kMaxKeys));
  return count;
}

Question question_of(const Parameters& parameters) {
  Question question;
  question.options.kind = find_parameter(parameters, "kind").value_or("bloom");
  question.options.capacity = count_of(parameters, "capacity", 1, 100);
  question.options.bits_per_key =
      cli::parse_positive("bits_per_key", find_parameter(parameters, "bits_per_key").value_or("10"));
  if (*question.options.bits_per_key > kMaxBitsPerKey)
    usage_error(fmt::format("bits_per_key: at most {} here", kMaxBitsPerKey));
  const auto [begin, end] = parameters.equal_range("key");
  for (auto it = begin; it != end; ++it) question.keys.push_back(it->second);
  const std::uint64_t generated = count_of(parameters, "generated", 0, 0);
  for (std::uint64_t i = 1; i <= generated; ++i) question.keys.push_back(fmt::format("key {}", i));
  if (const auto probe = find_parameter(parameters, "probe")) question.probe = *probe;
  return question;
}

const FilterKindInfo& kind_named(std::string_view name) {
  for (const FilterKindInfo& kind : filter_kinds()) {
    if (kind.name == name) return kind;
  }
  usage_error(fmt::format("there is no filter kind '{}'", name));
}

/// A full filter takes no more keys: `refused` says why, and the keys before are in it.
Filter filter_of(const Question& question, std::span<const std::string> keys, std::string& refused) {
  if (!kind_named(question.options.kind).adds) {
    FilterBuilder builder(question.options);
    for (const std::string& key : keys) builder.add(key);
    return need(builder.finish());
  }
  MutableFilter filter = need(MutableFilter::create(question.options));
  for (const std::string& key : keys) {
    const Status added = filter.add(key);
    if (!added.ok()) {
      refused = added.message();
      break;
    }
  }
  return filter.freeze();
}

/// What follows the header.
std::span<const std::byte> body_of(const Filter& filter) {
  return filter.bytes().last(static_cast<std::size_t>(filter.info().bits / 8));
}

std::string hex_of(std::span<const std::byte> bytes) {
  return to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// The bits that this key alone sets, of those that are drawn.
std::vector<std::uint64_t> bits_of(const Question& question, const std::string& key) {
  std::vector<std::uint64_t> bits;
  if (!kind_named(question.options.kind).adds) return bits;
  std::string refused;
  const Filter empty = filter_of(question, {}, refused);
  const Filter alone = filter_of(question, {&key, 1}, refused);
  const std::span<const std::byte> before = body_of(empty);
  const std::span<const std::byte> after = body_of(alone);
  const std::size_t shown = std::min({before.size(), after.size(), kShownBytes});
  for (std::size_t i = 0; i < shown * 8; ++i) {
    const std::byte mask{static_cast<unsigned char>(1U << (i % 8))};
    if ((after[i / 8] & mask) != (before[i / 8] & mask)) bits.push_back(i);
  }
  return bits;
}

JsonObject probe_json(const Question& question, const Filter& filter, const std::string& key) {
  return JsonObject()
      .add_bytes("key", key)
      .add("answer", filter.may_contain(key) ? "maybe" : "no")
      .add("was_added", std::ranges::find(question.keys, key) != question.keys.end())
      .add("bits", bits_of(question, key));
}

/// Of keys that nobody typed.
std::uint64_t count_false_positives(const Filter& filter) {
  std::uint64_t passed = 0;
  for (std::uint64_t i = 1; i <= kAbsentKeys; ++i) {
    if (filter.may_contain(fmt::format("\x01 absent {}", i))) ++passed;
  }
  return passed;
}

}  // namespace

std::string filter_lab(const Parameters& parameters) {
  const Question question = question_of(parameters);
  std::string refused;
  const Filter filter = filter_of(question, question.keys, refused);
  const FilterInfo info = filter.info();
  const std::uint64_t passed = count_false_positives(filter);
  const std::span<const std::byte> body = body_of(filter);
  std::optional<JsonObject> last;
  if (!question.keys.empty()) last = probe_json(question, filter, question.keys.back());
  std::optional<JsonObject> probe;
  if (question.probe) probe = probe_json(question, filter, *question.probe);
  return JsonObject()
      .add("kind", info.kind)
      .add("layout", info.layout)
      .add("keys", info.keys)
      .add("bytes", info.bytes)
      .add("bits", info.bits)
      .add("hashes", info.hashes)
      .add("fill", info.fill)
      .add("fpr_designed", info.designed_rate)
      .add("fpr_estimated", info.estimated_rate)
      .add("fpr_measured", static_cast<double>(passed) / static_cast<double>(kAbsentKeys))
      .add("absent_keys", kAbsentKeys)
      .add("false_positives", passed)
      .add("refused", refused)
      .add("last_key", last)
      .add("probe", probe)
      .add("body_hex", hex_of(body.first(std::min(body.size(), kShownBytes))))
      .text();
}

}  // namespace tamis::web
