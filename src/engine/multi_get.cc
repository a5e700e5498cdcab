// The way of many gets at once: as of one moment, in groups that go through memory side by side; what is not in memory
// is then read from disk together (docs/decisions/0020-multi-get.md).
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/epoch.h"
#include "base/try.h"
#include "engine/engine.h"
#include "engine/never_throws.h"

namespace tamis {
namespace {

/// Of a group, how many go through memory together: what they ask for fits the first cache (0020).
constexpr std::size_t kSideBySide = 8;

/// Those that have it are done.
void ask_memtable(const Memtable& memtable, std::span<StagedPeek> group) {
  if (memtable.empty()) return;
  for (const StagedPeek& peek : group) memtable.prefetch(peek.lookup.hash);
  for (const StagedPeek& peek : group) memtable.prefetch_entry(peek.lookup.hash);
  for (StagedPeek& peek : group) {
    if (peek.answer == Peek::kFound) continue;
    if (const std::optional<FoundEntry> found = memtable.find(peek.lookup)) {
      peek.found = *found;
      peek.answer = Peek::kFound;
    }
  }
}

}  // namespace

/// A string that is there already is written over.
void Engine::Answers::set(std::size_t number, const std::optional<FoundEntry>& found) {
  std::optional<std::string>& value = values[number];
  if (!found || found->kind == EntryKind::kDelete) return value.reset();
  if (!value) value.emplace();
  if (Status copied = assign_bytes(*value, found->value); !copied.ok()) fail(number, std::move(copied));
}

void Engine::Answers::fail(std::size_t number, Status why) {
  values[number].reset();
  failures.push_back({number, std::move(why)});
}

std::vector<Result<std::optional<std::string>>> Engine::multi_get(std::span<const std::string_view> keys,
                                                                  const ReadOptions& options) {
  using Answer = Result<std::optional<std::string>>;
  std::vector<std::optional<std::string>> values(keys.size());
  Answers answers{.values = values};
  if (const Status read = get_all(keys, options, answers); !read.ok()) return {keys.size(), Answer(read)};
  std::vector<Answer> results(std::make_move_iterator(values.begin()), std::make_move_iterator(values.end()));
  for (Answers::Failure& failure : answers.failures) results[failure.number] = std::move(failure.why);
  return results;
}

Status Engine::multi_get(std::span<const std::string_view> keys, std::vector<std::optional<std::string>>* values,
                         const ReadOptions& options) {
  values->resize(keys.size());
  Answers answers{.values = *values};
  Status read = get_all(keys, options, answers);
  if (!read.ok()) values->clear();
  return read.ok() && !answers.failures.empty() ? std::move(answers.failures.front().why) : read;
}

Status Engine::get_all(std::span<const std::string_view> keys, const ReadOptions& options, Answers& answers) const {
  TAMIS_TRY(const ReadMoment moment, begin_read(options.snapshot));
  for (std::size_t begin = 0; begin < keys.size(); begin += kLookupsAtOnce) {
    const std::size_t count = std::min(kLookupsAtOnce, keys.size() - begin);
    get_group(moment, keys.subspan(begin, count), begin, options.fills_cache, answers);
  }
  return {};
}

void Engine::get_group(const ReadMoment& moment, std::span<const std::string_view> keys, std::size_t first_number,
                       bool fills_cache, Answers& answers) const {
  std::array<StagedPeek, kLookupsAtOnce> lookups;
  const std::span<StagedPeek> group(lookups.data(), keys.size());
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    group[i].lookup = {.key = keys[i], .hash = hasher_(keys[i]), .sequence = moment.sequence};
    group[i].number = static_cast<std::uint32_t>(first_number + i);
  }
  std::size_t unknown = 0;
  for (std::size_t begin = 0; begin < group.size(); begin += kSideBySide) {
    const std::size_t count = std::min(kSideBySide, group.size() - begin);
    unknown += peek_group(moment, group.subspan(begin, count), answers);
  }
  if (unknown > 0) find_group(*moment.view->version, group, unknown, fills_cache, answers);
}

/// As far as memory alone can tell. Returns of how many it cannot.
std::size_t Engine::peek_group(const ReadMoment& moment, std::span<StagedPeek> group, Answers& answers) const {
  const EpochGuard guard;
  ask_memtable(*moment.view->active, group);
  for (const std::shared_ptr<Memtable>& sealed : moment.view->sealed) ask_memtable(*sealed, group);
  moment.view->version->peek_many(group);
  std::size_t unknown = 0;
  std::size_t absent = 0;
  std::size_t from_tables = 0;
  for (const StagedPeek& peek : group) {
    if (peek.answer == Peek::kUnknown) {
      ++unknown;
    } else if (peek.answer != Peek::kFound || peek.found.kind == EntryKind::kDelete) {
      ++absent;
      answers.set(peek.number, std::nullopt);
    } else {
      if (peek.table != nullptr) ++from_tables;
      answers.set(peek.number, peek.found);
    }
  }
  gets_absent_.add(absent);
  gets_from_tables_.add(from_tables);
  gets_from_memtables_.add(group.size() - unknown - absent - from_tables);
  return unknown;
}

/// The rest, each from the run on that did not answer.
void Engine::find_group(const Version& version, std::span<const StagedPeek> group, std::size_t unknown,
                        bool fills_cache, Answers& answers) const {
  std::vector<DiskLookup> lookups(unknown);
  std::size_t next = 0;
  for (const StagedPeek& peek : group) {
    if (peek.answer != Peek::kUnknown) continue;
    DiskLookup& lookup = lookups[next++];
    lookup.lookup = peek.lookup;
    lookup.number = peek.number;
    lookup.run = peek.run;
  }
  version.find_many(lookups, fills_cache);
  for (DiskLookup& lookup : lookups) {
    if (!lookup.status.ok()) {
      answers.fail(lookup.number, std::move(lookup.status));
      continue;
    }
    count_get(lookup.found, true);
    answers.set(lookup.number, lookup.found);
  }
}

}  // namespace tamis
