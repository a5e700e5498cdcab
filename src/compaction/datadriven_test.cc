// Shapes as text, and each policy's plans for them as text: tests/datadriven/compaction/*.txt.
//
//     fanout=4 memtable=100 now=0        settings, kept until changed; now is in hours, overwritten in percent, scanned
//                                        in runs; every table has 10 blocks
//     newest=7 tables=3 step=200         goal of a range, for this case; tables: the first 3 existed before
//     L0: a-k g-z                        level 0: every table is a run, newest first, unless there is a |
//     L1: a-f h-p*300 | c-d!60@30        deeper: runs separated by |. *bytes (100), !tombstones of 100 entries, @hour
//     ----                               since when the oldest of them waits; #entries (100); ~smallest sequence (0)
//     the policy's plan
//
// With TAMIS_REWRITE_EXPECTED set, the files get the actual plans; review the diff before committing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "compaction/policy.h"
#include "support/source_file.h"

namespace tamis {
namespace {

constexpr std::uint64_t kHour = 3600;

/// One case, read line by line.
class Case {
 public:
  explicit Case(PolicyOptions options) : options_(options) {}

  void read_line(const std::string& line) {
    std::istringstream words(line);
    std::string word;
    while (words >> word) {
      if (word == "#") return;
      if (word.starts_with("L") && word.ends_with(":")) {
        read_level(static_cast<std::uint32_t>(std::stoul(word.substr(1))), words);
      } else if (word == "range") {
        words >> from_ >> to_;
      } else {
        read_setting(word);
      }
    }
  }

  [[nodiscard]] std::string answer(std::string_view policy_name) const {
    EXPECT_TRUE(shape_.check().ok()) << shape_.check().to_text();
    if (policy_name == "range") {
      RangeGoal goal = goal_;
      goal.from = from_ == "-" ? std::string_view() : std::string_view(from_);
      if (to_ != "-") goal.to = to_;
      return text_of(pick_for_range(shape_, goal));
    }
    const CompactionPolicy& policy = *find_compaction_policy(policy_name);
    return fmt::format("{}debt {:.2f}\n", text_of(policy.pick(shape_, options_)), policy.debt(shape_, options_));
  }
  [[nodiscard]] const PolicyOptions& options() const { return options_; }

 private:
  void read_setting(const std::string& word) {
    const std::size_t equals = word.find('=');
    ASSERT_NE(equals, std::string::npos) << word;
    const std::uint64_t value = std::stoull(word.substr(equals + 1));
    const std::string name = word.substr(0, equals);
    if (name == "fanout")
      options_.fanout = static_cast<std::uint32_t>(value);
    else if (name == "memtable")
      options_.memtable_bytes = value;
    else if (name == "overwritten")
      options_.overwritten = static_cast<double>(value) / 100;
    else if (name == "scanned")
      options_.extra_runs_scanned = value;
    else if (name == "newest")
      goal_.newest = Sequence{value};
    else if (name == "tables")
      goal_.first_new_table = value + 1;
    else if (name == "step")
      goal_.step_bytes = value;
    else if (name == "now")
      options_.now_unix_seconds = value * kHour;
    else
      FAIL() << word;
  }

  void read_level(std::uint32_t level, std::istringstream& words) {
    const bool has_bars = words.str().find('|') != std::string::npos;
    std::vector<std::vector<std::shared_ptr<const TableFacts>>> runs(1);
    std::string word;
    while (words >> word) {
      if (word == "|") {
        runs.emplace_back();
        continue;
      }
      if (level == 0 && !has_bars && !runs.back().empty()) runs.emplace_back();
      runs.back().push_back(table_of(word));
    }
    if (shape_.levels.size() <= level) shape_.levels.resize(level + 1);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      shape_.levels[level].push_back({.id = 10 + runs.size() - i, .tables = runs[i]});
    }
  }

  std::shared_ptr<const TableFacts> table_of(const std::string& word) {
    auto facts = std::make_shared<TableFacts>();
    const std::size_t bounds = word.find_first_of(kMarks);
    const std::string text = word.substr(0, bounds);
    facts->number = ++tables_;
    facts->smallest_key = text.substr(0, text.find('-'));
    facts->largest_key = text.substr(text.find('-') + 1);
    facts->file_bytes = facts->entries = facts->keys = 100;
    facts->blocks = 10;
    for (std::size_t at = bounds; at != std::string::npos; at = word.find_first_of(kMarks, at + 1)) {
      const std::uint64_t value = std::stoull(word.substr(at + 1));
      if (word[at] == '*') facts->file_bytes = value;
      if (word[at] == '#') facts->entries = facts->keys = value;
      if (word[at] == '!') facts->deletes = value;
      if (word[at] == '~') facts->smallest_sequence = Sequence{value};
      if (word[at] == '@') facts->oldest_delete_unix_seconds = value * kHour;
    }
    names_[facts->number] = text;
    return facts;
  }

  /// "merge L0:{a-k g-z} + L1:{a-f h-p} -> L1 (why)".
  [[nodiscard]] std::string text_of(const std::optional<CompactionPlan>& plan) const {
    if (!plan) return "nothing\n";
    const Status status = check_plan(shape_, *plan);
    EXPECT_TRUE(status.ok()) << status.to_text();
    std::string text = plan->is_move ? "move" : "merge";
    const CompactionInput* before = nullptr;
    for (const CompactionInput& input : plan->inputs) {
      const bool continues = before != nullptr && before->level == input.level;
      if (continues) {
        text += input.level == 0 ? " " : " | ";
      } else {
        text += fmt::format("{}L{}:{{", before == nullptr ? " " : "} + ", input.level);
      }
      for (std::size_t i = 0; i < input.tables.size(); ++i) {
        text += (i == 0 ? "" : " ") + names_.at(input.tables[i]);
      }
      before = &input;
    }
    const bool is_new = shape_.find_run(plan->output_level, plan->output_run) == nullptr;
    return text + fmt::format("}} -> L{}{} ({})\n", plan->output_level, is_new ? ", new run" : "", plan->reason);
  }

  static constexpr const char* kMarks = "*#!@~";

  PolicyOptions options_;
  RangeGoal goal_;
  Shape shape_;
  std::string from_;
  std::string to_;
  std::uint64_t tables_ = 0;
  std::map<std::uint64_t, std::string> names_;
};

class Datadriven : public testing::TestWithParam<const char*> {};

TEST_P(Datadriven, PlansAreAsWritten) {
  const std::string path = source_file(fmt::format("tests/datadriven/compaction/{}.txt", GetParam()));
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  std::string rewritten;
  std::string line;
  Case now({.fanout = 10, .memtable_bytes = 100, .table_bytes = 100, .now_unix_seconds = 0});
  int cases = 0;
  for (int number = 1; std::getline(file, line); ++number) {
    rewritten += line + "\n";
    if (line != "----") {
      now.read_line(line);
      continue;
    }
    std::string expected;
    for (; std::getline(file, line) && !line.empty(); ++number) expected += line + "\n";
    const std::string answer = now.answer(GetParam());
    if (std::getenv("TAMIS_REWRITE_EXPECTED") == nullptr) {
      EXPECT_EQ(answer, expected) << path << ":" << number;
    }
    rewritten += answer + (file ? "\n" : "");
    now = Case(now.options());
    ++cases;
    ++number;
  }
  EXPECT_GT(cases, 0);
  if (std::getenv("TAMIS_REWRITE_EXPECTED") != nullptr) std::ofstream(path) << rewritten;
}

INSTANTIATE_TEST_SUITE_P(Policies, Datadriven, testing::Values("leveled", "tiered", "lazy", "manual", "range"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace tamis
