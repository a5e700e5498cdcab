#include "engine/lookup_weights.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "table/probe_sampling.h"

namespace tamis {
namespace {

constexpr double kSampledShare = 1.0 / ProbeSampling::kProbesPerSample;
/// Questions that differ from the weights this much more than chance would make them have moved.
constexpr double kFactorOfMove = 2;
constexpr double kDeviations = 6;
constexpr double kLeftAfterMove = 1.0 / 32;
constexpr double kLeastExpected = 1;  // Where few are expected, one more means nothing.

/// Samples of vain questions.
std::uint64_t sampled_of(const TableCounts& counts) {
  return (counts.vain_probes + counts.passed_over) / ProbeSampling::kProbesPerSample;
}

/// Vain questions that no filter answered.
std::uint64_t passed_of(const TableCounts& counts) {
  return counts.positives - std::min(counts.positives, counts.hits);
}

/// A count that is read while lookups add to its parts may seem to fall.
double growth(std::uint64_t before, std::uint64_t now) { return now > before ? static_cast<double>(now - before) : 0; }

/// The share of vain questions that its filter lets pass now. The run index, where it has the run, answers most of them
/// before: then nothing follows from those that are left.
double share_passed(const WeighedTable& weighed) {
  if (weighed.is_in_run_index) return 0;
  return weighed.facts->filter_rate_with(weighed.table->filter_columns());
}

using RunOfTree = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;
RunOfTree run_of(const WeighedTable& weighed) { return {weighed.tree, weighed.level, weighed.run}; }

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void LookupWeights::observe(std::span<const WeighedTable> tables, std::uint64_t gets) {
  for (const WeighedTable& weighed : tables) {
    const auto record = records_.find(weighed.facts->number);
    if (record == records_.end() || record->second.share_passed == share_passed(weighed)) continue;
    record->second.share_passed = 0;  // A lookup has loaded the filter meanwhile: only the samples tell.
  }
  const double fade = have_moved(tables, gets)
                          ? kLeftAfterMove
                          : std::exp2(-static_cast<double>(gets) / static_cast<double>(kGetsToHalf));
  inherit(tables);
  for (const WeighedTable& weighed : tables) {
    Record& record = records_.at(weighed.facts->number);
    const TableCounts counts = weighed.table->counts();
    record.seen.fade(fade);
    record.seen.questions += record.new_questions(counts);
    record.seen.gets += static_cast<double>(gets) * (kSampledShare + record.share_passed);
    record.reads.fade(fade);
    record.reads.questions += growth(record.passed, passed_of(counts));
    record.reads.gets += static_cast<double>(gets);
    record.level = weighed.level;
  }
}

void LookupWeights::begin(std::span<const WeighedTable> tables) {
  for (const WeighedTable& weighed : tables) {
    Record& record = records_.at(weighed.facts->number);
    const TableCounts counts = weighed.table->counts();
    record.sampled = sampled_of(counts);
    record.passed = passed_of(counts);
    record.share_passed = share_passed(weighed);
  }
}

/// A table without a record gets one. Those that are not among the tables are what the new ones replace, and go.
void LookupWeights::inherit(std::span<const WeighedTable> tables) {
  std::unordered_set<std::uint64_t> present;
  std::vector<const WeighedTable*> added;
  for (const WeighedTable& weighed : tables) {
    const std::uint64_t number = weighed.facts->number;
    present.insert(number);
    if (!records_.contains(number)) added.push_back(&weighed);
  }
  std::unordered_map<const WeighedTable*, std::map<std::uint32_t, double>> by_level;  // Questions per get.
  double seen_gets = 0;
  for (const auto& [number, record] : records_) {
    if (present.contains(number)) continue;
    seen_gets = std::max(seen_gets, record.seen.gets);
    std::uint64_t keys = 0;
    const auto succeeds = [&, &replaced = record](const WeighedTable* heir) {
      return heir->tree == replaced.tree && heir->facts->overlaps(replaced.facts->begin(), replaced.facts->end());
    };
    for (const WeighedTable* heir : added) keys += succeeds(heir) ? heir->facts->keys : 0;
    for (const WeighedTable* heir : added) {
      if (!succeeds(heir)) continue;
      by_level[heir][record.level] += record.seen.weight() * share_of(heir->facts->keys, keys);
    }
  }
  std::erase_if(records_, [&](const auto& entry) { return !present.contains(entry.first); });
  for (const WeighedTable* heir : added) {
    Record record = {.facts = heir->facts,  // It has counted nothing before.
                     .tree = heir->tree,
                     .level = heir->level,
                     .share_passed = share_passed(*heir)};
    double weight = 0;
    for (const auto& [level, of_level] : by_level[heir]) weight = std::max(weight, of_level);
    if (!by_level[heir].empty()) record.seen = {.questions = weight * seen_gets, .gets = seen_gets};
    records_.emplace(heir->facts->number, std::move(record));
  }
}

/// Pearson's test of the questions seen since `begin` against those that the weights predict.
bool LookupWeights::have_moved(std::span<const WeighedTable> tables, std::uint64_t gets) const {
  double squares = 0;
  double degrees = 0;
  for (const WeighedTable& weighed : tables) {
    const auto record = records_.find(weighed.facts->number);
    if (record == records_.end() || record->second.seen.gets == 0) continue;
    const double expected = record->second.expected_questions(gets) + kLeastExpected;
    const double observed = record->second.new_questions(weighed.table->counts());
    squares += (observed - expected) * (observed - expected) / expected;
    degrees += 1;
  }
  return squares > kFactorOfMove * degrees + kDeviations * std::sqrt(2 * degrees);
}

double LookupWeights::Record::new_questions(const TableCounts& counts) const {
  const double sampled_now = growth(sampled, sampled_of(counts));
  return share_passed > 0 ? sampled_now + growth(passed, passed_of(counts)) : sampled_now;
}

double LookupWeights::Record::expected_questions(std::uint64_t gets) const {
  return seen.weight() * static_cast<double>(gets) * (kSampledShare + share_passed);
}

std::vector<double> LookupWeights::weights(std::span<const WeighedTable> tables) const {
  std::map<RunOfTree, std::pair<double, double>> runs;  // Questions per get; keys seen.
  for (const WeighedTable& weighed : tables) {
    const auto record = records_.find(weighed.facts->number);
    if (record == records_.end() || record->second.seen.gets == 0) continue;
    auto& [questions, keys] = runs[run_of(weighed)];
    questions += record->second.seen.weight();
    keys += static_cast<double>(weighed.facts->keys);
  }
  std::vector<double> weights;
  weights.reserve(tables.size());
  for (const WeighedTable& weighed : tables) {
    // Before anything was seen, each get asks the run in vain, and a table by its share of the run's keys. That counts
    // as one question.
    const double keys = static_cast<double>(weighed.facts->keys);
    double expected = share_of(weighed.facts->keys, weighed.keys_of_run);
    if (const auto run = runs.find(run_of(weighed)); run != runs.end() && run->second.second > 0) {
      expected = std::min(1.0, run->second.first) * keys / run->second.second;
    }
    expected = std::max(expected, 1e-9);
    const auto record = records_.find(weighed.facts->number);
    const Seen seen = record == records_.end() ? Seen() : record->second.seen;
    weights.push_back((seen.questions + 1) / (seen.gets + 1 / expected));
  }
  return weights;
}

double LookupWeights::observed_reads(const WeighedTable& weighed) const {
  const auto record = records_.find(weighed.facts->number);
  return record == records_.end() ? 0 : record->second.reads.weight();
}

}  // namespace tamis
