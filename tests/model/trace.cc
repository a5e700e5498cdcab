#include "model/trace.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/try.h"
#include "model/option_sets.h"

namespace tamis::test {
namespace {

constexpr unsigned kMaxRunSeconds = 300;
constexpr int kMaxAttempts = 2000;

/// "flushes compactions interruptions ruled-out digest failure".
std::string packed(const Outcome& outcome) {
  return fmt::format("{} {} {} {} {} {}", outcome.flushes, outcome.compactions, outcome.interruptions,
                     outcome.ruled_out_by_run_index, outcome.digest, outcome.failure);
}

Outcome unpacked(const std::string& text, int status) {
  Outcome outcome;
  unsigned long long flushes = 0;
  unsigned long long compactions = 0;
  unsigned long long interruptions = 0;
  unsigned long long ruled_out = 0;
  unsigned long long digest = 0;
  int read = 0;
  if (std::sscanf(text.c_str(), "%llu %llu %llu %llu %llu %n", &flushes, &compactions, &interruptions, &ruled_out,
                  &digest, &read) < 5) {
    outcome.failure = WIFSIGNALED(status) ? fmt::format("the program was stopped by signal {}", WTERMSIG(status))
                                          : fmt::format("the program ended with {}", WEXITSTATUS(status));
    return outcome;
  }
  return {text.substr(static_cast<std::size_t>(read)), digest, flushes, compactions, interruptions, ruled_out};
}

}  // namespace

std::string to_text(const Trace& trace) {
  std::string text = fmt::format("seed {}\n", trace.spec.seed);
  if (trace.spec.runs_in_background) text += "background\n";
  if (trace.spec.schedule_seed) text += fmt::format("schedule {}\n", *trace.spec.schedule_seed);
  for (const Options& options : trace.spec.options) text += "options " + to_text(options) + "\n";
  for (const Operation& operation : trace.operations) text += to_text(operation) + "\n";
  return text;
}

Result<Trace> parse_trace(std::string_view text) {
  Trace trace;
  trace.spec.options.clear();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with("seed ")) {
      trace.spec.seed = std::strtoull(std::string(line.substr(5)).c_str(), nullptr, 10);
    } else if (line == "background") {
      trace.spec.runs_in_background = true;
    } else if (line.starts_with("schedule ")) {
      trace.spec.schedule_seed = std::strtoull(std::string(line.substr(9)).c_str(), nullptr, 10);
    } else if (line.starts_with("options ")) {
      TAMIS_TRY(Options options, parse_options(line.substr(8)));
      trace.spec.options.push_back(std::move(options));
    } else {
      TAMIS_TRY(Operation operation, parse_operation(line));
      trace.operations.push_back(std::move(operation));
    }
  }
  if (trace.spec.options.empty()) trace.spec.options.emplace_back();
  return trace;
}

Outcome run_here(const Trace& trace) {
  ModelRun run(trace.spec);
  Status status = run.run(trace.operations);
  // A final stats and reopen compare everything.
  if (status.ok()) status = run.run({.verb = Verb::kStats});
  if (status.ok()) status = run.run({.verb = Verb::kReopen});
  Outcome outcome{.digest = run.digest(),
                  .flushes = run.flushes(),
                  .compactions = run.compactions(),
                  .interruptions = run.interruptions(),
                  .ruled_out_by_run_index = run.ruled_out_by_run_index()};
  if (!status.ok()) {
    const bool has_ended = run.begun() > trace.operations.size() || run.begun() == 0;
    outcome.failure =
        fmt::format("operation {} of {}, {}: {}", run.begun(), trace.operations.size(),
                    has_ended ? "the end" : to_text(trace.operations[run.begun() - 1].verb), status.to_text());
  }
  return outcome;
}

Outcome run_apart(const Trace& trace) {
  std::fflush(nullptr);
  int ends[2];
  if (pipe(ends) != 0) return {.failure = "no pipe"};
  const pid_t child = fork();
  if (child < 0) return {.failure = "no child"};
  if (child == 0) {
    close(ends[0]);
    alarm(kMaxRunSeconds);
    const auto run = [&]() noexcept { return packed(run_here(trace)); };  // An exception ends the child.
    const std::string text = run();
    const bool is_written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    std::exit(is_written ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return unpacked(text, status);
}

Trace shrunk(Trace trace) {
  int attempts = 0;
  for (std::size_t piece = trace.operations.size() / 2; piece > 0; piece /= 2) {
    for (std::size_t at = 0; at < trace.operations.size() && attempts < kMaxAttempts;) {
      Trace shorter = trace;
      const auto from = shorter.operations.begin() + static_cast<std::ptrdiff_t>(at);
      const std::size_t count = std::min(piece, trace.operations.size() - at);
      shorter.operations.erase(from, from + static_cast<std::ptrdiff_t>(count));
      ++attempts;
      if (run_apart(shorter).failure.empty()) {
        at += piece;
      } else {
        trace = std::move(shorter);
      }
    }
  }
  return trace;
}

std::string explain_failure(const Trace& trace, const Outcome& outcome) {
  Trace shortest = trace;
  if (!trace.spec.runs_in_background) shortest = shrunk(trace);  // With threads, a shorter one may or may not fail.
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("tamis-model-{}-{}.txt", trace.spec.seed, getpid());
  std::ofstream(path) << "# " << run_apart(shortest).failure << "\n" << to_text(shortest);
  return fmt::format(
      "seed {}: {}\n{} operations are enough: {}\nagain: TAMIS_MODEL_TRACE={} model_test --gtest_filter=*Trace*",
      trace.spec.seed, outcome.failure, shortest.operations.size(), path.string(), path.string());
}

}  // namespace tamis::test
