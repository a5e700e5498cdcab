// Many gets at one moment. Groups of keys are looked up in memory together; then the missing blocks are read from disk
// together (docs/decisions/0020-multi-get.md).
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/epoch.h"
#include "engine/never_throws.h"
#include "engine/reader.h"
#include "engine/view_range_deletes.h"

namespace tamis {
namespace {

/// How many lookups of a group run together in memory: their prefetches fit the L1 cache (0020).
constexpr std::size_t kSideBySide = 8;

/// Lookups that find their key are done.
void ask_memtable(const Memtable& memtable, std::span<StagedLookup> group) {
  if (memtable.empty()) return;
  for (const StagedLookup& staged : group) memtable.prefetch(staged.lookup.hash);
  for (const StagedLookup& staged : group) memtable.prefetch_entry(staged.lookup.hash);
  for (StagedLookup& staged : group) {
    if (staged.answer == LookupAnswer::kFound) continue;
    if (const std::optional<FoundEntry> found = memtable.find(staged.lookup)) {
      staged.found = *found;
      staged.answer = LookupAnswer::kFound;
    }
  }
}

}  // namespace

/// One per key: a value or none. If it is unknown, `failures` has the reason.
struct Reader::Answers {
  struct Failure {
    std::size_t number = 0;
    Status why;
  };
  /// A key whose newest visible version is a merge operand.
  struct Operand {
    Lookup lookup;
    std::size_t number = 0;
  };
  std::span<std::optional<std::string>> values;
  std::uint64_t time = 0;  // Of the read.
  std::vector<Failure> failures = {};
  std::vector<Operand> to_fold = {};  // Counted as found.
  /// A value that is still to be read.
  struct Apart {
    std::size_t number = 0;
    std::string pointer;
  };
  std::vector<Apart> apart = {};

  /// Overwrites an existing string. False if there is no value; an operand is folded later.
  bool set(const StagedLookup& staged) {
    std::optional<std::string>& value = values[staged.number];
    std::string_view found;
    const Visible meaning = meaning_of(
        staged, [this] { return time; }, found);
    if (meaning == Visible::kDeleted || meaning == Visible::kOperand) {
      value.reset();
      return meaning == Visible::kOperand && add_to_fold(staged);
    }
    if (!value) value.emplace();
    if (meaning == Visible::kApart) [[unlikely]] {
      apart.push_back({staged.number, std::string(found)});
      return true;
    }
    if (Status copied = assign_bytes(*value, found); !copied.ok()) fail(staged.number, std::move(copied));
    return true;
  }
  bool add_to_fold(const StagedLookup& staged) {
    to_fold.push_back({staged.lookup, staged.number});
    return true;
  }
  /// Reads the values that are apart, together.
  void read_apart(const Version& version, std::span<const std::string_view> keys) {
    std::vector<ValueRead> reads;
    std::vector<std::size_t> numbers;
    for (const Apart& one : apart) {
      Result<ValueRead> read = version.begin_value(keys[one.number], one.pointer, *values[one.number]);
      if (!read.ok()) {
        fail(one.number, read.status());
        continue;
      }
      reads.push_back(*std::move(read));
      numbers.push_back(one.number);
    }
    ValueFile::read_many(reads);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      if (!reads[i].status.ok()) fail(numbers[i], std::move(reads[i].status));
    }
    apart.clear();
  }
  /// Lets range deletes hide the value, if one was found. False if that failed.
  bool hide(const ReadView& view, StagedLookup& staged) {
    if (staged.answer != LookupAnswer::kFound) return true;
    const Result<bool> is_hidden = hide_covered(view, staged);
    if (!is_hidden.ok()) fail(staged.number, is_hidden.status());
    return is_hidden.ok();
  }
  void fail(std::size_t number, Status why) {
    values[number].reset();
    failures.push_back({number, std::move(why)});
  }
};

std::vector<Result<std::optional<std::string>>> Reader::multi_get(std::span<const std::string_view> keys,
                                                                  const ReadOptions& options, const KeptView& moment) {
  using Answer = Result<std::optional<std::string>>;
  std::vector<std::optional<std::string>> values(keys.size());
  Answers answers{.values = values};
  get_all(keys, options, moment, answers);
  std::vector<Answer> results(std::make_move_iterator(values.begin()), std::make_move_iterator(values.end()));
  for (Answers::Failure& failure : answers.failures) results[failure.number] = std::move(failure.why);
  return results;
}

Status Reader::multi_get(std::span<const std::string_view> keys, std::vector<std::optional<std::string>>* values,
                         const ReadOptions& options, const KeptView& moment) {
  values->resize(keys.size());
  Answers answers{.values = *values};
  get_all(keys, options, moment, answers);
  return answers.failures.empty() ? Status() : std::move(answers.failures.front().why);
}

void Reader::get_all(std::span<const std::string_view> keys, const ReadOptions& options, const KeptView& moment,
                     Answers& answers) {
  answers.time = moment_for(options.snapshot, moment.sequence).time;
  if (const auto& deletes = moment.view->version->range_deletes(); deletes != nullptr) deletes->read_again();
  for (std::size_t begin = 0; begin < keys.size(); begin += kLookupsAtOnce) {
    const std::size_t count = std::min(kLookupsAtOnce, keys.size() - begin);
    get_group(moment, keys.subspan(begin, count), begin, options.fills_cache, answers);
    if (!answers.apart.empty()) [[unlikely]]
      answers.read_apart(*moment.view->version, keys);
  }
  if (!answers.to_fold.empty()) [[unlikely]]
    fold_all(*moment.view, options.fills_cache, answers);
}

void Reader::fold_all(const ReadView& view, bool fills_cache, Answers& answers) const {
  NoSteps none;
  for (const Answers::Operand& operand : answers.to_fold) {
    std::string& value = answers.values[operand.number].emplace();
    Status folded = fold(view, operand.lookup, answers.time, fills_cache, none, value);
    if (!folded.ok()) answers.fail(operand.number, std::move(folded));
  }
}

void Reader::get_group(const KeptView& moment, std::span<const std::string_view> keys, std::size_t first_number,
                       bool fills_cache, Answers& answers) {
  std::array<StagedLookup, kLookupsAtOnce> lookups;
  const std::span<StagedLookup> group(lookups.data(), keys.size());
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    group[i].lookup = {.key = keys[i], .hash = hasher_(keys[i]), .sequence = moment.sequence};
    group[i].number = static_cast<std::uint32_t>(first_number + i);
  }
  std::size_t unknown = 0;
  for (std::size_t begin = 0; begin < group.size(); begin += kSideBySide) {
    const std::size_t count = std::min(kSideBySide, group.size() - begin);
    unknown += peek_group(moment, group.subspan(begin, count), answers);
  }
  if (unknown > 0) find_group(*moment.view, group, unknown, fills_cache, answers);
}

/// Answers from memory only. Returns how many lookups are still unknown.
std::size_t Reader::peek_group(const KeptView& moment, std::span<StagedLookup> group, Answers& answers) {
  const EpochGuard guard;
  ask_memtable(*moment.view->active, group);
  for (const std::shared_ptr<Memtable>& sealed : moment.view->sealed) ask_memtable(*sealed, group);
  moment.view->version->peek_many(group);
  std::size_t unknown = 0;
  std::size_t absent = 0;
  std::size_t from_tables = 0;
  std::size_t failed = 0;
  const bool has_range_deletes = moment.view->has_range_deletes();
  for (StagedLookup& staged : group) {
    if (has_range_deletes && !answers.hide(*moment.view, staged)) [[unlikely]] {
      ++failed;
    } else if (staged.answer == LookupAnswer::kUnknown) {
      ++unknown;
    } else if (!answers.set(staged)) {
      ++absent;
    } else if (staged.table != nullptr) {
      ++from_tables;
    }
  }
  absent_.add(absent);
  from_tables_.add(from_tables);
  from_memtables_.add(group.size() - unknown - absent - from_tables - failed);
  return unknown;
}

/// Answers the rest, each from the run that could not answer.
void Reader::find_group(const ReadView& view, std::span<StagedLookup> group, std::size_t unknown, bool fills_cache,
                        Answers& answers) {
  std::vector<DiskLookup> lookups;
  lookups.reserve(unknown);
  for (StagedLookup& staged : group) {
    if (staged.answer == LookupAnswer::kUnknown) lookups.emplace_back(staged);
  }
  NoSteps none;
  view.version->find(lookups, fills_cache, none);
  for (DiskLookup& lookup : lookups) {
    if (!lookup.status.ok()) {
      answers.fail(lookup.staged->number, std::move(lookup.status));
      continue;
    }
    if (view.has_range_deletes() && !answers.hide(view, *lookup.staged)) [[unlikely]]
      continue;
    count_get(*lookup.staged, answers.set(*lookup.staged));
  }
}

}  // namespace tamis
