// Rule 16: inputs are adjacent in age wherever they share keys with other tables.
#include <fmt/format.h>

#include <unordered_set>

#include "compaction/plan_parts.h"

namespace tamis {
namespace {

Status refuse(std::string why) { return Status::invalid_argument("compaction plan: " + std::move(why)); }

struct InputTable {
  const TableFacts* facts = nullptr;
  RunAge age;
};

/// The facts of all input tables, if each is where the plan says.
Result<std::vector<InputTable>> find_inputs(const Shape& shape, const CompactionPlan& plan) {
  std::vector<InputTable> found;
  std::optional<RunAge> newer;
  for (const CompactionInput& input : plan.inputs) {
    const RunAge age = {.level = input.level, .run = input.run};
    if (newer && !(*newer < age)) return refuse("inputs are not newest first");
    newer = age;
    const Run* run = shape.find_run(input.level, input.run);
    if (run == nullptr) return refuse(fmt::format("there is no run {} in level {}", input.run, input.level));
    if (input.tables.empty()) return refuse(fmt::format("no table of run {} of level {}", input.run, input.level));
    const std::unordered_set<std::uint64_t> wanted(input.tables.begin(), input.tables.end());
    if (wanted.size() != input.tables.size()) return refuse("a table is named twice");
    const std::size_t before = found.size();
    for (const auto& table : run->tables) {
      if (wanted.contains(table->number)) found.push_back({.facts = table.get(), .age = age});
    }
    if (found.size() - before != wanted.size()) {
      return refuse(fmt::format("not all tables named are in run {} of level {}", input.run, input.level));
    }
  }
  if (found.empty()) return refuse("there are no inputs");
  return found;
}

Status check_move(const CompactionPlan& plan) {
  if (plan.inputs.size() != 1) return refuse("a move has one input");
  if (plan.output_level < plan.inputs.front().level) return refuse("a move goes down");
  if (plan.output_level == plan.inputs.front().level && plan.output_run >= plan.inputs.front().run) {
    return refuse("a move goes down");
  }
  return {};
}

/// Whatever stays between an input's old and new place must not overlap it. In the output run itself, tables that stay
/// must not even lie between inputs: a new table may span from one to the other. Moved tables do not grow.
Status check_passed(const Run& run, RunAge age, std::span<const InputTable> inputs,
                    const std::unordered_set<std::uint64_t>& numbers, const CompactionPlan& plan) {
  const RunAge output = {.level = plan.output_level, .run = plan.output_run};
  KeySpan hull = span_of(*inputs.front().facts);
  for (const InputTable& input : inputs) hull = hull.joined(span_of(*input.facts));
  for (const auto& table : overlapping(run, hull)) {
    if (numbers.contains(table->number)) continue;
    if (age == output && !plan.is_move) {
      return refuse(fmt::format("table {} stays in the output run and lies between inputs", table->number));
    }
    for (const InputTable& input : inputs) {
      const bool is_passed =
          input.age < output ? input.age < age && !(output < age) : age < input.age && !(age < output);
      if (is_passed && span_of(*input.facts).overlaps(*table)) {
        return refuse(
            fmt::format("table {} would pass table {}, which it overlaps", input.facts->number, table->number));
      }
    }
  }
  return {};
}

}  // namespace

Status check_plan(const Shape& shape, const CompactionPlan& plan) {
  if (plan.output_level >= Shape::kMaxLevels) return refuse(fmt::format("there is no level {}", plan.output_level));
  auto inputs = find_inputs(shape, plan);
  if (!inputs.ok()) return inputs.status();
  if (plan.is_move) {
    if (Status status = check_move(plan); !status.ok()) return status;
  }
  std::unordered_set<std::uint64_t> numbers;
  for (const InputTable& input : *inputs) numbers.insert(input.facts->number);
  for (std::uint32_t level = 0; level < shape.levels.size(); ++level) {
    for (const Run& run : shape.levels[level]) {
      Status status = check_passed(run, {.level = level, .run = run.id}, *inputs, numbers, plan);
      if (!status.ok()) return status;
    }
  }
  return {};
}

}  // namespace tamis
