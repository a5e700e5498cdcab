// tamis merge: adds to a value, or appends to it, without reading it first.
#include "cli/store/merge.h"

#include <fmt/core.h>

#include <charconv>
#include <optional>

#include "cli/bytes_text.h"
#include "cli/store/common.h"
#include "cli/verbs.h"

namespace tamis::cli {
namespace {

bool is_unsigned(std::string_view merge_operator) { return merge_operator == "max_u64" || merge_operator == "min_u64"; }
bool has_numbers(std::string_view merge_operator) { return merge_operator == "add_i64" || is_unsigned(merge_operator); }

template <typename Number>
std::string packed(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return pack_u64(static_cast<std::uint64_t>(number));
  usage_error(fmt::format("OPERAND: {} is not a whole number of 64 bits{}", quoted(text),
                          std::is_signed_v<Number> ? "" : " without a sign"));
}

std::string operand_of(const std::string& word, std::string_view merge_operator, const CommonOptions& options) {
  if (options.hex || !has_numbers(merge_operator)) return bytes_of_word(word, "the operand", options);
  return is_unsigned(merge_operator) ? packed<std::uint64_t>(word) : packed<std::int64_t>(word);
}

}  // namespace

std::string operator_of(const DB& db, std::string_view keyspace) {
  constexpr std::string_view kName = "merge_operator=";
  for (const KeyspaceInfo& info : db.keyspaces()) {
    if (info.name != keyspace) continue;
    const std::size_t at = info.options.find(kName);
    if (at == std::string::npos) return {};
    const std::string rest = info.options.substr(at + kName.size());
    const std::string name = rest.substr(0, rest.find('\n'));
    return name == "none" ? std::string() : name;
  }
  return {};
}

std::string number_text(std::string_view value, std::string_view merge_operator) {
  const std::optional<std::uint64_t> number = unpack_u64(value);
  if (!number) usage_error(fmt::format("--number: a value has {} bytes, and a number has 8", value.size()));
  if (is_unsigned(merge_operator)) return std::to_string(*number);
  return std::to_string(static_cast<std::int64_t>(*number));
}

int run_merge(Arguments arguments) {
  StoreArguments store;
  std::string key;
  std::string word;
  std::string wanted;
  bool sync = false;
  CommandLine line({.summary = "Merges an operand into the value of a key, and prints the value that results. "
                               "add_i64, max_u64 and min_u64 take and print numbers, append takes bytes. The first "
                               "merge fixes the operator of the keyspace. Creates the store and the keyspace if "
                               "missing.",
                    .usage = "DIR KEY OPERAND [--operator NAME] [--keyspace NAME] [--sync]",
                    .example = "  tamis merge visits paris 1 --operator add_i64\n"
                               "  tamis merge visits paris -- -1\n"
                               "  tamis get visits paris --number",
                    .common = kJson | kHex});
  store.declare_with_keyspace(line);
  line.operand("KEY", "the key", key);
  line.operand("OPERAND", "a number or, for append, bytes", word);
  line.option("--operator", "NAME", "add_i64, max_u64, min_u64 or append; needed for the first merge", wanted);
  line.flag("--sync", "return once the change is durable (survives a machine crash)", sync);
  if (!line.read(arguments)) return kExitOk;
  const CommonOptions& options = line.common();
  key = bytes_of_word(key, "the key", options);
  if (!wanted.empty() && store.keyspace_name == "default") store.settings.push_back("merge_operator=" + wanted);
  DB db = store.open(StoreUse::kCreate);
  Keyspace keyspace = store.keyspace(db, StoreUse::kCreate);
  if (!wanted.empty() && store.keyspace_name != "default") {
    keyspace = need(db.keyspace(store.keyspace_name, {.merge_operator = wanted}));
  }
  const std::string stored = operator_of(db, store.keyspace_name);
  const std::string name = stored.empty() ? store.options(StoreUse::kCreate).merge_operator : stored;
  need(keyspace.merge(key, operand_of(word, name, options), {.sync = sync}));
  const std::string value = need(keyspace.get(key)).value_or("");
  need(db.close());
  const bool is_number = has_numbers(name) && !options.hex && value.size() == 8;
  const std::string text = is_number ? number_text(value, name) : value;
  if (options.json) {
    standard_output().write(JsonObject().add("ok", true).add_bytes("value", text, options.hex).line());
  } else {
    standard_output().write((is_number ? text : shown(value, options)) + "\n");
  }
  return kExitOk;
}

}  // namespace tamis::cli
