#include "cli/torture/script.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "cli/draw.h"

namespace tamis::cli {
namespace {

constexpr std::size_t kLongKeyBytes = 300;
constexpr std::uint32_t kPlaces = 100'000;  // Of keys in key order; long ones are after all of them.
constexpr std::chrono::system_clock::time_point kBeforeAll{std::chrono::hours(1)};
constexpr std::chrono::system_clock::time_point kAfterAll{std::chrono::hours(24 * 365 * 130)};

bool is_long(std::uint32_t index) { return index % 17 == 3; }
std::uint32_t place_of(std::uint32_t index) {
  return is_long(index) ? kPlaces - 1 : static_cast<std::uint32_t>(mixed(index) % (kPlaces - 1));
}
/// What follows the prefix in the end of a range.
std::string end_of_places(std::uint32_t to) { return to == kPlaces ? "y" : fmt::format("{:05}", to); }

/// "[+commit]", with a few bytes that tell several of one commit apart.
std::string operand_of(std::uint64_t commit, std::uint64_t draw) {
  return fmt::format("[+{}.{:x}]", commit, draw % 4096);
}

struct LastOperand {
  std::size_t at = 0;
  std::uint64_t commit = 0;
};
/// Where the operand begins with which the value ends, if it does.
std::optional<LastOperand> last_operand(std::string_view value) {
  LastOperand last{.at = value.rfind("[+")};
  if (last.at == std::string_view::npos || !value.ends_with(']')) return std::nullopt;
  const char* const digits = value.data() + last.at + 2;
  if (std::from_chars(digits, value.data() + value.size(), last.commit).ec != std::errc()) return std::nullopt;
  return last;
}

/// Max value sizes: the first change of a commit may exceed a block or a memtable; the others of a usual batch may
/// exceed a small block; those of a large batch are a line of text.
std::size_t most_bytes_of(std::uint32_t number) {
  if (number == 0) return 24'000;
  return number < 5 ? 5000 : 200;
}

/// Mostly a line of text, sometimes empty.
std::size_t length_of(Draw& draw, std::size_t most) {
  if (draw.once_in(32)) return 0;
  if (draw.once_in(50)) return draw.below(most);
  return draw.below(200);
}

/// Every other value is compressible.
std::string value_of(std::string_view key, std::uint64_t commit, std::uint64_t seed, std::size_t most_bytes) {
  Draw draw(seed);
  const std::size_t length = length_of(draw, most_bytes);
  if (length == 0) return {};
  std::string value = fmt::format("{} of {} ", commit, key.substr(0, 20));
  const std::size_t end = value.size() + length;
  value.reserve(end + sizeof(std::uint64_t));
  const bool repeats = draw.once_in(2);
  std::uint64_t word = draw.next();
  while (value.size() < end) {
    value.append(reinterpret_cast<const char*>(&word), sizeof word);
    if (!repeats) word = draw.next();
  }
  value.resize(end);
  return value;
}

}  // namespace

std::string TortureScript::note_key(std::uint32_t writer) const { return fmt::format("note{}", writer); }

std::string TortureScript::prefix(std::uint32_t writer) const { return fmt::format("writer{}:", writer); }

std::string TortureScript::key(std::uint32_t writer, std::uint32_t index) const {
  // Some keys are long and differ only at the end.
  if (is_long(index)) return fmt::format("{}{:x>{}}{:05}", prefix(writer), "", kLongKeyBytes, index);
  return fmt::format("{}{:05}{:04}", prefix(writer), place_of(index), index);
}

std::uint32_t TortureScript::changes(std::uint32_t writer, std::uint64_t commit) const {
  Draw draw(mixed({shape_.seed, writer, commit}));
  if (draw.once_in(200)) return static_cast<std::uint32_t>(1 + draw.below(60));
  return static_cast<std::uint32_t>(1 + draw.below(5));
}

TortureScript::Change TortureScript::change(std::uint32_t writer, std::uint64_t commit, std::uint32_t number) const {
  using enum Change::Kind;
  Draw draw(mixed({shape_.seed, writer, commit, number + 1}));
  const auto drawn = static_cast<std::uint32_t>(draw.below(shape_.keys));
  const auto index = number == 0 ? static_cast<std::uint32_t>(commit % shape_.keys) : drawn;
  Change made{.index = index, .draw = draw.next(), .most_bytes = most_bytes_of(number)};
  const std::uint64_t kind = draw.below(64);
  if (kind < 12) made.kind = kRemove;
  if (kind >= 12 && kind < 16) made.kind = kPutExpired;
  if (kind >= 16 && kind < 24) made.kind = kPutToExpire;
  if (number == 0) return made;
  if (kind >= 24 && kind < 36) made.kind = kMerge;
  if (kind == 36) {
    made.kind = kRemoveRange;
    made.from = static_cast<std::uint32_t>(draw.below(kPlaces));
    made.to = std::min(kPlaces, made.from + static_cast<std::uint32_t>(draw.below(draw.once_in(8) ? kPlaces : 3000)));
  }
  return made;
}

bool TortureScript::Change::touches(std::uint32_t any_index) const {
  if (kind != Kind::kRemoveRange) return index == any_index;
  const std::uint32_t place = place_of(any_index);
  return is_in_second_keyspace(index) == is_in_second_keyspace(any_index) && from <= place && place < to;
}

bool TortureScript::touches(std::uint32_t writer, std::uint32_t index, std::uint64_t commit) const {
  for (std::uint32_t number = changes(writer, commit); number > 0; --number) {
    if (change(writer, commit, number - 1).touches(index)) return true;
  }
  return false;
}

std::string TortureScript::put_value(std::uint32_t writer, std::uint64_t commit, const Change& change) const {
  return value_of(key(writer, change.index), commit, change.draw, change.most_bytes);
}

template <typename... Into>
void TortureScript::add(Batch& batch, std::uint32_t writer, std::uint64_t commit, const Change& change,
                        const Into&... into) const {
  using enum Change::Kind;
  const std::string changed = key(writer, change.index);
  switch (change.kind) {
    case kPut: return batch.put(into..., changed, put_value(writer, commit, change));
    case kPutToExpire: return batch.put(into..., changed, put_value(writer, commit, change), kAfterAll);
    case kPutExpired: return batch.put(into..., changed, put_value(writer, commit, change), kBeforeAll);
    case kRemove: return batch.remove(into..., changed);
    case kMerge: return batch.merge(into..., changed, operand_of(commit, change.draw));
    case kRemoveRange:
      return batch.remove_range(into..., fmt::format("{}{:05}", prefix(writer), change.from),
                                prefix(writer) + end_of_places(change.to));
  }
}

Batch TortureScript::batch(std::uint32_t writer, const Note& note, const Keyspace& second) const {
  Batch batch;
  const std::uint32_t end = changes(writer, note.commit);
  for (std::uint32_t number = 0; number < end; ++number) {
    const Change made = change(writer, note.commit, number);
    if (is_in_second_keyspace(made.index)) {
      add(batch, writer, note.commit, made, second);
    } else {
      add(batch, writer, note.commit, made);
    }
  }
  std::string text = fmt::format("{}", note.commit);
  for (const std::uint64_t commit : note.after) text += fmt::format(" {}", commit);
  batch.put(note_key(writer), text);
  return batch;
}

/// From the newest change to the one that determines what the later operands are appended to.
std::optional<std::string> TortureScript::value(std::uint32_t writer, std::uint32_t index,
                                                std::uint64_t commits) const {
  std::string operands;
  for (std::uint64_t commit = commits; commit > 0; --commit) {
    for (std::uint32_t number = changes(writer, commit); number > 0; --number) {
      const Change made = change(writer, commit, number - 1);
      if (!made.touches(index)) continue;
      if (made.is_put()) return put_value(writer, commit, made) + operands;
      if (made.kind != Change::Kind::kMerge) return operands.empty() ? std::nullopt : std::optional(operands);
      operands.insert(0, operand_of(commit, made.draw));
    }
  }
  return operands.empty() ? std::nullopt : std::optional(operands);
}

bool TortureScript::may_be_left(std::uint32_t writer, std::uint32_t index, std::string_view value,
                                std::uint64_t commits) const {
  const auto made_by = [&](std::uint64_t commit, auto is_it) {
    if (commit == 0 || commit > commits) return false;
    for (std::uint32_t number = changes(writer, commit); number > 0; --number) {
      const Change made = change(writer, commit, number - 1);
      if (made.index == index && is_it(made)) return true;
    }
    return false;
  };
  while (const std::optional<LastOperand> last = last_operand(value)) {
    const std::string_view operand = value.substr(last->at);
    const bool was_merged = made_by(last->commit, [&](const Change& made) {
      return made.kind == Change::Kind::kMerge && operand_of(last->commit, made.draw) == operand;
    });
    if (!was_merged) break;
    value.remove_suffix(operand.size());
  }
  if (value.empty()) return true;  // A value may be empty, or lost.
  std::uint64_t commit = 0;
  if (std::from_chars(value.data(), value.data() + value.size(), commit).ec != std::errc()) return false;
  return made_by(commit, [&](const Change& made) { return made.is_put() && put_value(writer, commit, made) == value; });
}

std::optional<TortureScript::Note> TortureScript::parse_note(std::string_view text) const {
  std::vector<std::uint64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (!numbers.empty() && *at++ != ' ') return std::nullopt;
    std::uint64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return std::nullopt;
    at = next;
    numbers.push_back(number);
  }
  if (numbers.size() != 1 + shape_.writers || numbers[0] == 0) return std::nullopt;
  return Note{.commit = numbers[0], .after = {numbers.begin() + 1, numbers.end()}};
}

}  // namespace tamis::cli
