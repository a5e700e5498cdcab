#include "cli/torture/plan.h"

#include <fmt/core.h>

#include <array>
#include <string_view>
#include <vector>

#include "cli/draw.h"
#include "tamis/filter.h"

namespace tamis::cli {
namespace {

constexpr std::uint64_t kRoundsPerStore = 12;
constexpr std::uint64_t kKiB = 1024;

using Words = std::vector<std::string_view>;

std::string drawn_filter(Draw& draw) {
  Words words = {"auto", "auto", "none"};
  for (const FilterKindInfo& kind : filter_kinds()) words.push_back(kind.name);
  return std::string(draw.one_of(words));
}

/// Small options, so that a few hundred commits fill memtables, levels and caches.
Options draw_once(Draw& draw) {
  static constexpr std::array kMemory = {320 * kKiB, 1024 * kKiB, 16 * 1024 * kKiB};
  static constexpr std::array kMemtable = {64 * kKiB, 80 * kKiB, 256 * kKiB};
  static constexpr std::array kTable = {4 * kKiB, 32 * kKiB, 256 * kKiB};
  static constexpr std::array<std::uint32_t, 3> kBlock = {1024, 4096, 60 * 1024};
  static constexpr std::array<std::uint32_t, 3> kFanout = {2, 4, 10};
  static constexpr std::array<std::uint64_t, 4> kApart = {0, 0, 100, 3000};
  static constexpr std::array kCodecs = {"none", "lz4", "zstd"};
  static constexpr std::array kPolicies = {"leveled", "leveled", "tiered", "lazy", "manual"};
  using enum PrefixRule::Kind;
  static const std::vector<PrefixRule> kRules = {{}, {kUntil, ':'}, {kFirst, 7}, {kFirst, 2}};
  Options options;
  options.memory_bytes = draw.one_of(kMemory);
  options.memtable_bytes = draw.one_of(kMemtable);
  options.table_bytes = draw.one_of(kTable);
  options.block_bytes = draw.one_of(kBlock);
  options.fanout = draw.one_of(kFanout);
  options.codec = draw.one_of(kCodecs);
  options.codec_last = draw.one_of(kCodecs);
  options.compaction = draw.one_of(kPolicies);
  options.prefix_rule = draw.one_of(kRules);
  options.filter = drawn_filter(draw);
  if (draw.once_in(4)) options.filter_memory = draw.below(20'000);
  options.value_bytes_apart = draw.one_of(kApart);
  options.merge_operator = TortureScript::kMergeOperator;
  options.background_threads = static_cast<std::uint32_t>(1 + draw.below(4));
  return options;
}

/// Some combinations are refused, such as filter kinds that tables cannot have.
Options draw_options(Draw& draw) {
  for (;;) {
    Options options = draw_once(draw);
    if (check_options(options).ok()) return options;
  }
}

void draw_end(Draw& draw, RoundPlan& plan) {
  using enum RoundPlan::End;
  static constexpr std::array kEnds = {kKilledOpening,  kKilledWriting,    kKilledWriting,    kKilledWriting,
                                       kKilledFlushing, kKilledCompacting, kKilledCompacting, kCloses};
  plan.end = draw.one_of(kEnds);
  plan.commits = draw.once_in(4) ? draw.below(30) : draw.below(4000);
  plan.phases = static_cast<std::uint32_t>(1 + draw.below(4));
  plan.microseconds = draw.below(plan.end == kKilledOpening ? 20'000 : 4000);
  plan.milliseconds = 200 + draw.below(1000);
}

}  // namespace

RoundPlan plan_round(std::uint64_t seed, std::uint64_t round) {
  RoundPlan plan;
  plan.store = round / kRoundsPerStore;
  plan.is_first_of_store = round % kRoundsPerStore == 0;
  Draw store_draw(mixed({seed, plan.store, 1}));
  plan.shape.seed = store_draw.next();
  plan.shape.writers = static_cast<std::uint32_t>(1 + store_draw.below(4));
  plan.shape.keys = static_cast<std::uint32_t>(store_draw.once_in(4) ? 5 : 40 + store_draw.below(600));

  Draw draw(mixed({seed, round, 2}));
  plan.options = draw_options(draw);
  plan.looking_options = draw_options(draw);
  plan.readers = static_cast<std::uint32_t>(draw.below(3));
  plan.sync_one_in = static_cast<std::uint32_t>(draw.once_in(4) ? 2 : 10 + draw.below(200));
  plan.makes_checkpoints = draw.once_in(3);
  draw_end(draw, plan);
  plan.is_opened_twice = draw.once_in(4);
  plan.flips = draw.once_in(2) ? static_cast<std::uint32_t>(draw.below(12)) : 0;
  plan.is_repaired = draw.once_in(4);
  if (draw.once_in(2)) plan.follows_at = 1 + draw.below(200);
  return plan;
}

std::string options_text(const Options& options) {
  const Options defaults;
  std::string text;
  for (const OptionInfo& option : option_table()) {
    const std::string value = get_option(options, option.name);
    if (value == get_option(defaults, option.name)) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", option.name, value);
  }
  return text;
}

}  // namespace tamis::cli
