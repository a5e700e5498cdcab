// A seed determines when flushes and compactions run, and what happens in the middle of them.
#include <gtest/gtest.h>

#include "model/generator.h"
#include "model/model_run.h"
#include "model/option_sets.h"
#include "model/trace.h"
#include "support/figures.h"

namespace tamis::test {
namespace {

struct Had {
  std::vector<std::string> calls;
  std::uint64_t digest = 0;
  std::uint64_t interruptions = 0;
};

/// Nothing crashes, so the disk remembers everything.
std::vector<Operation> operations_without_crashes(std::uint64_t seed, std::size_t count) {
  std::vector<Operation> operations = Generator(seed).many(count);
  std::erase_if(operations, [](const Operation& operation) { return operation.verb == Verb::kCrash; });
  return operations;
}

Had have(const std::vector<Operation>& operations, const Options& options, std::uint64_t schedule_seed) {
  ModelRun run({.options = {options}, .seed = 600, .schedule_seed = schedule_seed});
  const Status status = run.run(operations);
  EXPECT_TRUE(status.ok()) << "schedule " << schedule_seed << ": " << status.to_text();
  return {run.call_log(), run.digest(), run.interruptions()};
}

TEST(Schedule, TheSameSeedGivesTheSameCallsAndAnswers) {
  const std::vector<Operation> operations = operations_without_crashes(600, 1500);
  for (const Options& options : spread_options(4, 600)) {
    const Had once = have(operations, options, 1);
    const Had again = have(operations, options, 1);
    EXPECT_EQ(once.calls, again.calls) << to_text(options);
    EXPECT_EQ(once.digest, again.digest) << to_text(options);
    EXPECT_GT(once.interruptions, 60U) << to_text(options);
  }
}

TEST(Schedule, AnotherSeedGivesOtherCalls) {
  const std::vector<Operation> operations = operations_without_crashes(601, 1500);
  EXPECT_NE(have(operations, spread_options(1, 601).front(), 1).calls,
            have(operations, spread_options(1, 601).front(), 2).calls);
}

TEST(Schedule, ATraceRemembersIt) {
  const Trace trace{{.options = spread_options(1, 9), .seed = 9, .schedule_seed = 77}, {}};
  const Result<Trace> again = parse_trace(to_text(trace));
  ASSERT_TRUE(again.ok()) << again.status().to_text();
  EXPECT_EQ(again->spec.schedule_seed, 77U);
}

TEST(Schedule, AnswersAreRightWheneverRewritesRunAndWhateverInterruptsThem) {
  std::uint64_t seed = 700;
  for (const Options& options : spread_options(12, 7)) {
    ++seed;
    const Trace trace{{.options = {options}, .seed = seed, .schedule_seed = seed}, Generator(seed).many(2000)};
    const Outcome outcome = run_apart(trace);
    ASSERT_EQ(outcome.failure, "") << explain_failure(trace, outcome);
    EXPECT_GT(outcome.interruptions, 50U) << to_text(options);
    record_figure("model_operations", trace.operations.size());
  }
}

}  // namespace
}  // namespace tamis::test
