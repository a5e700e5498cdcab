#include "model/operation.h"

#include <fmt/core.h>

#include <charconv>

#include "base/random.h"
#include "base/try.h"

namespace tamis::test {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

std::string_view to_text(Move::Kind kind) {
  switch (kind) {
    case Move::Kind::kNext: return "next";
    case Move::Kind::kPrevious: return "previous";
    case Move::Kind::kSeek: return "seek";
    case Move::Kind::kSeekBefore: return "seek_before";
    case Move::Kind::kFirst: return "first";
    case Move::Kind::kLast: return "last";
  }
  return "";
}

std::string escaped(std::string_view key) {
  std::string text;
  for (const char c : key) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ':';
    if (is_plain) {
      text.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text += {'%', kHexDigits[byte / 16], kHexDigits[byte % 16]};
    }
  }
  return text;
}

std::string unescaped(std::string_view text) {
  std::string key;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      key.push_back(static_cast<char>(kHexDigits.find(text[i + 1]) * 16 + kHexDigits.find(text[i + 2])));
      i += 2;
    } else {
      key.push_back(text[i]);
    }
  }
  return key;
}

std::uint32_t number_of_text(std::string_view text) {
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// "key,seed,bytes" or "key"; "1/key" in another keyspace than the default one.
Change parse_change(std::string_view text) {
  std::uint32_t keyspace = 0;
  if (text.size() > 1 && text[1] == '/') {
    keyspace = number_of_text(text.substr(0, 1));
    text.remove_prefix(2);
  }
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    Change range{.key = unescaped(text.substr(0, dash)), .keyspace = keyspace, .is_put = false, .is_range = true};
    if (text.substr(dash + 1).starts_with('>')) range.to = unescaped(text.substr(dash + 2));
    return range;
  }
  const std::size_t first = text.find(',');
  const bool is_merge = first != std::string_view::npos && text.substr(0, first).ends_with('+');
  Change change{.key = unescaped(text.substr(0, is_merge ? first - 1 : first)),
                .keyspace = keyspace,
                .is_put = first != std::string_view::npos && !is_merge,
                .is_merge = is_merge};
  if (!change.is_put && !change.is_merge) return change;
  const std::size_t second = text.find(',', first + 1);
  change.value_seed = number_of_text(text.substr(first + 1, second - first - 1));
  change.value_bytes = number_of_text(text.substr(second + 1));
  const std::size_t third = text.find(',', second + 1);
  if (third != std::string_view::npos) change.expires_in = number_of_text(text.substr(third + 1));
  return change;
}

std::optional<Move> parse_move(std::string_view name, std::string_view value) {
  using enum Move::Kind;
  for (const Move::Kind kind : {kNext, kPrevious, kSeek, kSeekBefore, kFirst, kLast}) {
    if (to_text(kind) == name) return Move{kind, unescaped(value)};
  }
  return {};
}

Status read_word(Operation& operation, std::string_view name, std::string_view value) {
  if (name == "change") {
    operation.changes.push_back(parse_change(value));
  } else if (name == "sync") {
    operation.sync = true;
  } else if (name == "key") {
    operation.keys.push_back(unescaped(value));
  } else if (name == "slot") {
    operation.slot = number_of_text(value);
  } else if (name == "prefix") {
    operation.bounds.prefix = unescaped(value);
  } else if (name == "from") {
    operation.bounds.from = unescaped(value);
  } else if (name == "to") {
    operation.bounds.to = unescaped(value);
  } else if (name == "reverse") {
    operation.bounds.reverse = true;
  } else if (name == "uncached") {
    operation.fills_cache = false;
  } else if (name == "keyspace") {
    operation.keyspace = number_of_text(value);
  } else if (name == "time") {
    operation.milliseconds = number_of_text(value);
  } else if (name == "options") {
    operation.options_seed = number_of_text(value);
  } else if (std::optional<Move> move = parse_move(name, value)) {
    operation.moves.push_back(std::move(*move));
  } else {
    return Status::invalid_argument(fmt::format("'{}' is not part of an operation", name));
  }
  return {};
}

}  // namespace

std::string_view to_text(Verb verb) {
  switch (verb) {
    case Verb::kPut: return "put";
    case Verb::kRemove: return "remove";
    case Verb::kRemoveRange: return "remove_range";
    case Verb::kMerge: return "merge";
    case Verb::kWrite: return "write";
    case Verb::kTryWrite: return "try_write";
    case Verb::kSync: return "sync";
    case Verb::kGet: return "get";
    case Verb::kGetInto: return "get_into";
    case Verb::kGetPinned: return "get_pinned";
    case Verb::kMultiGet: return "multi_get";
    case Verb::kScan: return "scan";
    case Verb::kOpenIterator: return "open_iterator";
    case Verb::kMoveIterator: return "move_iterator";
    case Verb::kDropIterator: return "drop_iterator";
    case Verb::kSnapshot: return "snapshot";
    case Verb::kRelease: return "release";
    case Verb::kMakeKeyspace: return "make_keyspace";
    case Verb::kDropKeyspace: return "drop_keyspace";
    case Verb::kBegin: return "begin";
    case Verb::kGetIn: return "get_in";
    case Verb::kScanIn: return "scan_in";
    case Verb::kWriteIn: return "write_in";
    case Verb::kSavepoint: return "savepoint";
    case Verb::kRollbackTo: return "rollback_to";
    case Verb::kCommit: return "commit";
    case Verb::kRollback: return "rollback";
    case Verb::kFlush: return "flush";
    case Verb::kCompact: return "compact";
    case Verb::kWaitIdle: return "wait_idle";
    case Verb::kPassTime: return "pass_time";
    case Verb::kResume: return "resume";
    case Verb::kCheckpoint: return "checkpoint";
    case Verb::kFollow: return "follow";
    case Verb::kVerify: return "verify";
    case Verb::kApproximateSize: return "approximate_size";
    case Verb::kStats: return "stats";
    case Verb::kExplain: return "explain";
    case Verb::kPlan: return "plan";
    case Verb::kReopen: return "reopen";
    case Verb::kAbandon: return "abandon";
    case Verb::kCrash: return "crash";
    case Verb::kReadOnly: return "read_only";
    case Verb::kRepair: return "repair";
  }
  return "";
}

std::string name_of_keyspace(std::uint32_t keyspace) {
  if (keyspace == 0) return "default";
  return keyspace == kKeyspaces - 1 ? std::string(254, '\n') + "=" : fmt::format("space {}", keyspace);
}

/// Half of it repeats, so that codecs can compress it.
std::string value_of(const Change& change) {
  SplitMix64 random(change.value_seed);
  std::string value(change.value_bytes, 'v');
  for (std::size_t i = 0; i < value.size(); i += 2) value[i] = static_cast<char>(random.next());
  return value;
}

std::string to_text(const Operation& operation) {
  std::string text(to_text(operation.verb));
  for (const Change& change : operation.changes) {
    text += " change=";
    if (change.keyspace != 0) text += fmt::format("{}/", change.keyspace);
    text += escaped(change.key);
    if (change.is_range) text += change.to ? "->" + escaped(*change.to) : "-";
    if (change.is_merge) text += "+";
    if (change.is_put || change.is_merge) text += fmt::format(",{},{}", change.value_seed, change.value_bytes);
    if (change.expires_in != 0) text += fmt::format(",{}", change.expires_in);
  }
  if (operation.sync) text += " sync";
  for (const std::string& key : operation.keys) text += " key=" + escaped(key);
  if (operation.slot) text += fmt::format(" slot={}", *operation.slot);
  if (!operation.bounds.prefix.empty()) text += " prefix=" + escaped(operation.bounds.prefix);
  if (operation.bounds.from) text += " from=" + escaped(*operation.bounds.from);
  if (operation.bounds.to) text += " to=" + escaped(*operation.bounds.to);
  if (operation.bounds.reverse) text += " reverse";
  if (!operation.fills_cache) text += " uncached";
  if (operation.keyspace != 0) text += fmt::format(" keyspace={}", operation.keyspace);
  if (operation.milliseconds != 0) text += fmt::format(" time={}", operation.milliseconds);
  if (operation.options_seed != 0) text += fmt::format(" options={}", operation.options_seed);
  for (const Move& move : operation.moves) {
    text += fmt::format(" {}", to_text(move.kind));
    if (move.kind == Move::Kind::kSeek || move.kind == Move::Kind::kSeekBefore) text += "=" + escaped(move.key);
  }
  return text;
}

Result<Operation> parse_operation(std::string_view line) {
  Operation operation;
  bool has_verb = false;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::string_view word = line.substr(at, end - at);
    at = end + 1;
    if (!has_verb) {
      for (std::size_t i = 0; i < kVerbs; ++i) {
        if (to_text(Verb{static_cast<std::uint8_t>(i)}) != word) continue;
        operation.verb = Verb{static_cast<std::uint8_t>(i)};
        has_verb = true;
      }
      if (!has_verb) return Status::invalid_argument(fmt::format("'{}' is not a verb", word));
      continue;
    }
    const std::size_t equals = std::min(word.find('='), word.size());
    TAMIS_TRY_STATUS(read_word(operation, word.substr(0, equals), word.substr(std::min(equals + 1, word.size()))));
  }
  if (!has_verb) return Status::invalid_argument("an empty line is no operation");
  return operation;
}

}  // namespace tamis::test
