// A million operations against the model, over every policy, codec, filter kind, cache and size there is.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "model/generator.h"
#include "model/option_sets.h"
#include "model/trace.h"
#include "support/figures.h"

namespace tamis::test {
namespace {

constexpr std::size_t kOperationsPerRun = 10'000;

/// `runs` of them; the n-th has options and operations of its own.
void run_many(std::uint64_t first_seed, std::size_t runs, bool in_background, std::size_t sets_per_run) {
  const std::vector<Options> sets = spread_options(runs * sets_per_run, first_seed);
  std::uint64_t flushes = 0;
  std::uint64_t compactions = 0;
  for (std::size_t i = 0; i < runs; ++i) {
    const std::uint64_t seed = first_seed + i;
    Trace trace{{.options = {}, .seed = seed, .runs_in_background = in_background},
                Generator(seed).many(kOperationsPerRun)};
    for (std::size_t k = 0; k < sets_per_run; ++k) trace.spec.options.push_back(sets[i * sets_per_run + k]);
    const Outcome outcome = run_apart(trace);
    ASSERT_EQ(outcome.failure, "") << explain_failure(trace, outcome);
    flushes += outcome.flushes;
    compactions += outcome.compactions;
  }
  record_figure("model_operations", runs * kOperationsPerRun);
  fmt::print("{} operations, {} flushes, {} compactions\n", runs * kOperationsPerRun, flushes, compactions);
}

TEST(ModelSlow, AnswersAreRightUnderAnyOptions) { run_many(10'000, 70, false, 1); }

TEST(ModelSlow, AnswersAreRightWhenEveryOpeningHasOtherOptions) { run_many(20'000, 20, false, 10); }

TEST(ModelSlow, AnswersAreRightWithThreadsInTheBackground) { run_many(30'000, 15, true, 2); }

TEST(MetamorphicSlow, SixtyOptionSetsGiveTheSameAnswers) {
  const std::vector<Operation> operations = Generator(40'000).many(5000);
  std::uint64_t digest = 0;
  for (const Options& options : spread_options(60, 40'000)) {
    const Trace trace{{.options = {options}, .seed = 40'000}, operations};
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
