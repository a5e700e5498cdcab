// Over a million operations against the model, with every policy, codec, filter kind, cache and size.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "model/generator.h"
#include "model/option_sets.h"
#include "model/trace.h"
#include "support/figures.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

constexpr std::size_t kOperationsPerRun = 10'000;

enum class Rewrites : std::uint8_t { kAtOnce, kByThreads, kBySchedule };

/// Added to every seed, to differ from the daily runs.
std::uint64_t seed_offset() {
  const char* text = std::getenv("TAMIS_SEED");
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

/// Makes `runs` runs; each has its own options and operations.
void run_many(std::uint64_t first_seed, std::size_t runs, Rewrites rewrites, std::size_t sets_per_run) {
  first_seed += seed_offset();
  const std::vector<Options> sets = spread_options(runs * sets_per_run, first_seed);
  std::uint64_t flushes = 0;
  std::uint64_t compactions = 0;
  std::uint64_t interruptions = 0;
  for (std::size_t i = 0; i < runs; ++i) {
    const std::uint64_t seed = first_seed + i;
    Trace trace{{.options = {}, .seed = seed, .runs_in_background = rewrites == Rewrites::kByThreads},
                Generator(seed).many(kOperationsPerRun)};
    if (rewrites == Rewrites::kBySchedule) trace.spec.schedule_seed = seed;
    for (std::size_t k = 0; k < sets_per_run; ++k) trace.spec.options.push_back(sets[i * sets_per_run + k]);
    const Outcome outcome = run_apart(trace);
    ASSERT_EQ(outcome.failure, "") << explain_failure(trace, outcome);
    flushes += outcome.flushes;
    compactions += outcome.compactions;
    interruptions += outcome.interruptions;
  }
  record_figure("model_operations", runs * kOperationsPerRun);
  record_figure("model_interruptions", interruptions);
  fmt::print("{} operations, {} flushes, {} compactions, {} operations in the middle of one\n",
             runs * kOperationsPerRun, flushes, compactions, interruptions);
}

TEST(ModelSlow, AnswersAreRightUnderAnyOptions) { run_many(base_seed(10'000), 46, Rewrites::kAtOnce, 1); }

TEST(ModelSlow, AnswersAreRightWhenEveryOpeningHasOtherOptions) {
  run_many(base_seed(20'000), 20, Rewrites::kAtOnce, 10);
}

TEST(ModelSlow, AnswersAreRightWithThreadsInTheBackground) { run_many(base_seed(30'000), 15, Rewrites::kByThreads, 2); }

TEST(ModelSlow, AnswersAreRightUnderAnySchedule) { run_many(base_seed(50'000), 34, Rewrites::kBySchedule, 2); }

TEST(MetamorphicSlow, SixtyOptionSetsGiveTheSameAnswers) {
  const std::vector<Operation> operations = Generator(base_seed(40'000)).many(5000);
  std::uint64_t digest = 0;
  for (const Options& options : spread_options(60, base_seed(40'000))) {
    const Trace trace{{.options = {options}, .seed = base_seed(40'000)}, operations};
    const Outcome outcome = run_apart(trace);
    ASSERT_EQ(outcome.failure, "") << explain_failure(trace, outcome);
    record_figure("option_sets", 1);
    record_figure("metamorphic_operations", operations.size());
    if (digest == 0) digest = outcome.digest;
    EXPECT_EQ(outcome.digest, digest) << to_text(options);
  }
}

}  // namespace
}  // namespace tamis::test
