#include "cli/torture/script.h"

#include <fmt/core.h>

#include <charconv>

#include "cli/draw.h"

namespace tamis::cli {
namespace {

constexpr std::size_t kLongKeyBytes = 300;

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
  if (index % 17 == 3) return fmt::format("{}{:x>{}}{:05}", prefix(writer), "", kLongKeyBytes, index);
  return fmt::format("{}{:05}", prefix(writer), mixed(index) % 100'000) + fmt::format("{:04}", index);
}

std::uint32_t TortureScript::changes(std::uint32_t writer, std::uint64_t commit) const {
  Draw draw(mixed({shape_.seed, writer, commit}));
  if (draw.once_in(200)) return static_cast<std::uint32_t>(1 + draw.below(60));
  return static_cast<std::uint32_t>(1 + draw.below(5));
}

TortureScript::Change TortureScript::change(std::uint32_t writer, std::uint64_t commit, std::uint32_t number) const {
  Draw draw(mixed({shape_.seed, writer, commit, number + 1}));
  const auto drawn = static_cast<std::uint32_t>(draw.below(shape_.keys));
  const auto index = number == 0 ? static_cast<std::uint32_t>(commit % shape_.keys) : drawn;
  return {.index = index, .is_put = !draw.once_in(4), .draw = draw.next(), .most_bytes = most_bytes_of(number)};
}

std::optional<TortureScript::Change> TortureScript::last_change(std::uint32_t writer, std::uint32_t index,
                                                                std::uint64_t commit) const {
  for (std::uint32_t number = changes(writer, commit); number > 0; --number) {
    if (const Change found = change(writer, commit, number - 1); found.index == index) return found;
  }
  return std::nullopt;
}

Batch TortureScript::batch(std::uint32_t writer, const Note& note, const Keyspace& second) const {
  Batch batch;
  const std::uint32_t end = changes(writer, note.commit);
  for (std::uint32_t number = 0; number < end; ++number) {
    const Change made = change(writer, note.commit, number);
    const std::string changed = key(writer, made.index);
    const bool is_second = is_in_second_keyspace(made.index);
    if (made.is_put) {
      const std::string value = value_of(changed, note.commit, made.draw, made.most_bytes);
      is_second ? batch.put(second, changed, value) : batch.put(changed, value);
    } else {
      is_second ? batch.remove(second, changed) : batch.remove(changed);
    }
  }
  std::string text = fmt::format("{}", note.commit);
  for (const std::uint64_t commit : note.after) text += fmt::format(" {}", commit);
  batch.put(note_key(writer), text);
  return batch;
}

std::optional<std::string> TortureScript::value(std::uint32_t writer, std::uint32_t index,
                                                std::uint64_t commits) const {
  for (std::uint64_t commit = commits; commit > 0; --commit) {
    const std::optional<Change> made = last_change(writer, index, commit);
    if (!made) continue;
    if (!made->is_put) return std::nullopt;
    return value_of(key(writer, index), commit, made->draw, made->most_bytes);
  }
  return std::nullopt;
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
