// How often lookups ask each table for a key that it does not have.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "table/table.h"
#include "table/table_facts.h"

namespace tamis {

/// A table at one moment.
struct WeighedTable {
  std::shared_ptr<Table> table;
  std::shared_ptr<const TableFacts> facts;
  std::uint32_t tree = 0;
  std::uint32_t level = 0;
  std::uint64_t run = 0;
  std::uint64_t keys_of_run = 0;
  bool is_in_run_index = false;
};

/// Estimates the vain questions of a table, per get: those that its bounds admit and that it does not answer, whether
/// the run index or its filter saves the read or not (rule 46). Two observations count them: a sample, and the reads
/// that the filter let pass, of which it lets pass a known share. So tables with few columns are known best.
///
/// What is old counts half after kGetsToHalf gets. Once what is seen differs from the weights by more than chance, the
/// questions have moved, and what was seen before counts little.
///
/// A new table begins with the weights of those that it replaces: the largest of any level, by share of keys. One that
/// replaces none begins as its run's keys are asked on average.
///
/// Threads: one at a time.
class LookupWeights {
 public:
  static constexpr std::uint64_t kGetsToHalf = 1U << 18;

  /// What the tables have counted since `begin`, in which there were so many gets. Forgets tables that are not among
  /// them.
  void observe(std::span<const WeighedTable> tables, std::uint64_t gets);
  /// What is counted from now on, with the filters that are in memory now, is for the next `observe`. The same tables.
  void begin(std::span<const WeighedTable> tables);
  /// Of the same tables, in their order.
  [[nodiscard]] std::vector<double> weights(std::span<const WeighedTable> tables) const;
  /// Of one of them: its reads in vain per get, as counted.
  [[nodiscard]] double observed_reads(const WeighedTable& weighed) const;

 private:
  /// Questions seen, and the gets that would show each question of theirs: their ratio is the weight.
  struct Seen {
    [[nodiscard]] double weight() const { return gets == 0 ? 0 : questions / gets; }
    void fade(double factor) { questions *= factor, gets *= factor; }

    double questions = 0;
    double gets = 0;
  };
  struct Record {
    std::shared_ptr<const TableFacts> facts;
    std::uint32_t tree = 0;
    std::uint32_t level = 0;
    std::uint64_t sampled = 0;  // As counted by the table at the last `begin`, like the next one.
    std::uint64_t passed = 0;
    double share_passed = 1;  // Of its questions, since then.
    Seen seen = {};
    Seen reads = {};  // Those questions that became reads.

    [[nodiscard]] double new_questions(const TableCounts& counts) const;
    [[nodiscard]] double expected_questions(std::uint64_t gets) const;
  };

  void inherit(std::span<const WeighedTable> tables);
  [[nodiscard]] bool have_moved(std::span<const WeighedTable> tables, std::uint64_t gets) const;

  std::unordered_map<std::uint64_t, Record> records_;  // By table number.
};

}  // namespace tamis
