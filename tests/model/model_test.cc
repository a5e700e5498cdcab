// Random operations over the whole API of a store, against a std::map; and the same operations under many options,
// which must not change an answer.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "model/generator.h"
#include "model/option_sets.h"
#include "model/trace.h"
#include "support/figures.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

TEST(Operation, ReadsBackWhatItWrote) {
  Generator generator(5);
  std::uint64_t verbs_seen = 0;
  for (int i = 0; i < 60'000; ++i) {
    const Operation operation = generator.next();
    verbs_seen |= std::uint64_t{1} << static_cast<unsigned>(operation.verb);
    const Result<Operation> again = parse_operation(to_text(operation));
    ASSERT_TRUE(again.ok()) << to_text(operation);
    ASSERT_EQ(*again, operation) << to_text(operation);
  }
  EXPECT_EQ(verbs_seen, (std::uint64_t{1} << kVerbs) - 1);
}

TEST(Operation, WordsThatAreNoneAreRefused) {
  EXPECT_FALSE(parse_operation("").ok());
  EXPECT_FALSE(parse_operation("pout key=a").ok());
  EXPECT_FALSE(parse_operation("get kye=a").ok());
}

TEST(Trace, ReadsBackWhatItWrote) {
  const Trace trace{{.options = spread_options(3, 9), .seed = 9}, Generator(9).many(50)};
  const Result<Trace> again = parse_trace(to_text(trace));
  ASSERT_TRUE(again.ok()) << again.status().to_text();
  EXPECT_EQ(to_text(*again), to_text(trace));
}

/// A crash of the program is an outcome too, and the shortest trace is the operation that causes it.
TEST(Trace, AFailureIsShrunkToWhatItNeeds) {
  Trace trace{{.options = spread_options(1, 3), .seed = 3}, Generator(3).many(60)};
  trace.operations.insert(trace.operations.begin() + 30, {.verb = Verb::kRelease, .slot = 77});
  EXPECT_FALSE(run_apart(trace).failure.empty());
  const Trace shortest = shrunk(trace);
  ASSERT_EQ(shortest.operations.size(), 1U);
  EXPECT_EQ(shortest.operations.front().slot, 77U);
}

/// TAMIS_MODEL_TRACE names a file that another test has written.
TEST(Trace, OneThatFailedRunsAgain) {
  const char* path = std::getenv("TAMIS_MODEL_TRACE");
  if (path == nullptr) GTEST_SKIP() << "TAMIS_MODEL_TRACE names no trace";
  std::ifstream file(path);
  const Result<Trace> trace = parse_trace(std::string(std::istreambuf_iterator<char>(file), {}));
  ASSERT_TRUE(trace.ok()) << trace.status().to_text();
  EXPECT_EQ(run_here(*trace).failure, "");
}

TEST(Model, AnswersAreRightUnderAHandfulOfOptions) {
  std::uint64_t seed = base_seed(100);
  for (const Options& options : spread_options(10, base_seed(1))) {
    const Trace trace{{.options = {options}, .seed = ++seed}, Generator(seed).many(2000)};
    const Outcome outcome = run_apart(trace);
    ASSERT_EQ(outcome.failure, "") << explain_failure(trace, outcome);
    record_figure("model_operations", trace.operations.size());
    EXPECT_GT(outcome.flushes, 10U) << to_text(options);
  }
}

TEST(Model, AnswersAreRightWhenEveryOpeningHasOtherOptions) {
  const Trace trace{{.options = spread_options(12, base_seed(2)), .seed = base_seed(200)},
                    Generator(base_seed(200)).many(3000)};
  const Outcome outcome = run_apart(trace);
  EXPECT_EQ(outcome.failure, "") << explain_failure(trace, outcome);
  record_figure("model_operations", trace.operations.size());
}

TEST(Model, AnswersAreRightWithThreadsInTheBackground) {
  std::uint64_t seed = base_seed(300);
  for (const Options& options : spread_options(3, base_seed(4))) {
    const Trace trace{{.options = {options}, .seed = ++seed, .runs_in_background = true}, Generator(seed).many(1000)};
    const Outcome outcome = run_apart(trace);
    ASSERT_EQ(outcome.failure, "") << explain_failure(trace, outcome);
    record_figure("model_operations", trace.operations.size());
  }
}

TEST(Model, Rule42_AFollowerAgreesAfterEveryOperation) {
  std::uint64_t seed = base_seed(700);
  for (const Options& options : spread_options(3, base_seed(7))) {
    ModelRun run({.options = {options}, .seed = ++seed});
    Generator generator(seed);
    for (std::uint32_t i = 0; i < 500; ++i) {
      Operation operation = generator.next();
      const std::uint32_t keyspace = 1 + i / 40 % (kKeyspaces - 1);
      if (i % 40 == 0) operation = {.verb = Verb::kMakeKeyspace, .keyspace = keyspace};
      if (i % 40 == 39) operation = {.verb = Verb::kDropKeyspace, .keyspace = keyspace};
      const Status agreed = run.run(operation);
      ASSERT_TRUE(agreed.ok()) << agreed.to_text();
      const Status followed = run.run({.verb = Verb::kFollow, .keys = {"", "user:007"}, .keyspace = i % kKeyspaces});
      ASSERT_TRUE(followed.ok()) << i << ", after " << to_text(operation) << ": " << followed.to_text();
    }
    EXPECT_GE(run.followed(), 500U);
  }
}

/// Rarely merges many runs into one or starts with an empty run index.
std::vector<Operation> operations_that_pile_up_runs(std::uint64_t seed, std::size_t count) {
  std::vector<Operation> operations;
  SplitMix64 random(seed);
  for (Operation& operation : Generator(seed).many(count)) {
    const bool is_end = operation.verb == Verb::kCompact || operation.verb >= Verb::kReopen;
    if (is_end && random.next() % 16 != 0) operation = {.verb = Verb::kFlush};
    operations.push_back(std::move(operation));
  }
  return operations;
}

TEST(Model, Rule14_AnswersAreRightWhileRunsPileUp) {
  std::uint64_t seed = base_seed(600);
  std::uint64_t ruled_out = 0;
  for (const std::string policy : {"manual", "tiered"}) {
    Options options;
    options.compaction = policy;
    options.fanout = 40;
    options.memory_bytes = std::uint64_t{16} << 20;
    options.table_bytes = std::uint64_t{20} << 10;
    for (const bool in_background : {false, true}) {
      for (const bool is_scheduled : {false, true}) {
        Trace trace{{.options = {options}, .seed = ++seed, .runs_in_background = in_background},
                    operations_that_pile_up_runs(seed, 2500)};
        if (is_scheduled && !in_background) trace.spec.schedule_seed = seed;
        const Outcome outcome = run_apart(trace);
        ASSERT_EQ(outcome.failure, "") << explain_failure(trace, outcome);
        record_figure("model_operations", trace.operations.size());
        if (!in_background) ruled_out += outcome.ruled_out_by_run_index;
      }
    }
  }
  EXPECT_GT(ruled_out, 300U);
}

TEST(Metamorphic, OptionsDoNotChangeAnAnswer) {
  const std::vector<Operation> operations = Generator(base_seed(400)).many(700);
  std::uint64_t digest = 0;
  for (const Options& options : spread_options(24, base_seed(5))) {
    const Trace trace{{.options = {options}, .seed = base_seed(400)}, operations};
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
