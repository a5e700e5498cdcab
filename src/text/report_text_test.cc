#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>

#include "tamis/stats.h"
#include "text/text_layout.h"

namespace tamis {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::size_t widest_line(std::string_view text) {
  std::size_t widest = 0;
  std::size_t width = 0;
  for (const char c : text) {
    width = c == '\n' ? 0 : width + ((c & 0xc0) != 0x80 ? 1 : 0);
    widest = std::max(widest, width);
  }
  return widest;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

Stats::Level large_level(std::uint32_t number) {
  return {.level = number,
          .runs = 99'999,
          .tables = 99'999,
          .bytes = kMost,
          .entries = kMost,
          .tombstones = kMost,
          .filter_kind = "scalable",
          .bits_per_key = 99.99,
          .filter_bytes = kMost,
          .designed_rate = 1.2345e-9,
          .observed_rate = 0.99,
          .probes = kMost,
          .negatives = kMost,
          .false_positives = kMost,
          .hits = 99'999,
          .blocks_read = 99'999};
}

Explanation::Step step_in_memtable() {
  Explanation::Step step;
  step.where = "memtable";
  step.outcome = "absent";
  return step;
}

Explanation::Step step_at_table(std::uint32_t level, std::uint64_t run, std::uint64_t table) {
  Explanation::Step step;
  step.where = "table";
  step.level = level;
  step.run = run;
  step.table = table;
  return step;
}

TEST(ReportText, AnEmptyStoreHasStatsToo) {
  const std::string text = Stats().to_text();
  EXPECT_TRUE(has(text, "No tables yet.\n")) << text;
  EXPECT_TRUE(text.ends_with('\n'));
  EXPECT_LE(widest_line(text), 80U) << text;
  EXPECT_FALSE(has(text, "nan") || has(text, "inf")) << text;
}

TEST(ReportText, StatsFitEightyColumnsWithTheLargestNumbers) {
  Stats stats;
  for (std::uint32_t level = 0; level < 8; ++level) stats.levels.push_back(large_level(level));
  stats.cache = {.policy = "s3fifo",
                 .hits = kMost / 4,
                 .misses = 1,
                 .evictions = 999'999,
                 .blocks = 999'999,
                 .bytes = kMost,
                 .capacity_bytes = kMost};
  stats.memory = {.budget = kMost,
                  .used = kMost,
                  .memtables = kMost,
                  .blocks = kMost,
                  .indexes = kMost,
                  .filters = kMost,
                  .indexes_not_resident = kMost / 2,
                  .filters_not_resident = kMost / 3,
                  .lookups_without_filter = 999'999};
  stats.gets = stats.gets_found = stats.memtable_hits = stats.writes = stats.sequence = kMost;
  stats.stalls = {.delayed_writes = 7, .delay_us = 1500, .longest_us = 900, .reason = "level 0 has 12 runs"};
  const std::string text = stats.to_text();
  EXPECT_LE(widest_line(text), 80U) << text;
  EXPECT_TRUE(has(text, "7 writes delayed, 1.50 ms in all, 900 us at most: level 0 has 12 runs")) << text;
  EXPECT_TRUE(has(text, "1 miss ")) << text;
  EXPECT_FALSE(has(text, "ERROR")) << text;
  stats.background_error = "disk on fire";
  EXPECT_TRUE(has(stats.to_text(), "ERROR    disk on fire\n"));
}

TEST(ReportText, StatsOfALevelStandInItsLine) {
  Stats stats;
  stats.levels = {{.level = 3,
                   .runs = 2,
                   .tables = 5,
                   .bytes = 3 << 20,
                   .entries = 1234,
                   .tombstones = 56,
                   .filter_kind = "line",
                   .bits_per_key = 10.25,
                   .filter_bytes = 2048,
                   .designed_rate = 0.01,
                   .observed_rate = 0.02,
                   .probes = 100,
                   .negatives = 88,
                   .false_positives = 2,
                   .hits = 10,
                   .blocks_read = 9}};
  const std::string text = stats.to_text();
  EXPECT_TRUE(has(text, "    3     2       5  3.00 MiB    1,234       56      100     10      9\n")) << text;
  EXPECT_TRUE(has(text, "    3  line       10.25  2.00 KiB    1.00 %    2.00 %    100  88      2\n")) << text;
}

TEST(ReportText, AnExplanationShowsEveryStep) {
  Explanation explanation;
  explanation.key = "rome";
  explanation.found = true;
  explanation.value = "2755309";
  explanation.reads = 1;
  explanation.metadata_reads = 2;
  explanation.nanoseconds = 12'345;
  explanation.steps = {step_in_memtable(), step_at_table(0, 17, 21), step_at_table(1, 3, 9)};
  explanation.steps[1].filter_kind = "line";
  explanation.steps[1].bits_per_key = 10.04;
  explanation.steps[1].filter_verdict = "no";
  explanation.steps[1].outcome = "ruled out";
  explanation.steps[2].filter_kind = "ribbon";
  explanation.steps[2].bits_per_key = 12.5;
  explanation.steps[2].filter_verdict = "not in memory";
  explanation.steps[2].block_source = "disk";
  explanation.steps[2].outcome = "found";
  EXPECT_EQ(explanation.to_text(),
            "key      \"rome\"\n"
            "found    \"2755309\" (7 B)\n"
            "cost     1 block read, 2 metadata reads, 12.3 us\n"
            "\n"
            "where     level  run  table  filter                            block  outcome\n"
            "memtable                                                              absent\n"
            "table         0   17     21  line, 10.0 bits: no                      ruled out\n"
            "table         1    3      9  ribbon, 12.5 bits: not in memory  disk   found\n");
}

TEST(ReportText, AnExplanationCountsTheColumnsAsked) {
  Explanation explanation;
  explanation.key = "oslo";
  explanation.steps = {step_at_table(0, 17, 21)};
  explanation.steps[0].filter_kind = "sliced";
  explanation.steps[0].columns = 4;
  explanation.steps[0].stored_columns = 16;
  explanation.steps[0].filter_verdict = "no";
  EXPECT_TRUE(has(explanation.to_text(), "sliced, 4 of 16 columns: no")) << explanation.to_text();
}

TEST(ReportText, AnExplanationSaysWhyNoFilterWasAsked) {
  Explanation explanation;
  explanation.key = "oslo";
  explanation.steps = {step_at_table(0, 17, 21)};
  explanation.steps[0].outcome = "outside";
  EXPECT_TRUE(has(explanation.to_text(), "table      0   17     21  not asked         outside its keys\n"))
      << explanation.to_text();
}

TEST(ReportText, AnExplanationOfNothingIsShort) {
  EXPECT_EQ(Explanation().to_text(), "key      \"\"\nfound    no\ncost     0 blocks read, 0 metadata reads, 0 ns\n");
}

TEST(ReportText, APlanDrawsWhatItSaves) {
  EXPECT_EQ(PlanReport().to_text(), "No runs yet: nothing to plan.\n");
  PlanReport plan;
  plan.filter_memory = 4096;
  plan.runs = {{.level = 0, .run = 7, .keys = 100, .kind = "line", .bits_per_key = 18, .bytes = 225, .rate = 0.0005},
               {.level = 1, .run = 2, .keys = 100'000, .kind = "", .rate = 1}};
  plan.wasted_reads = 0.0125;
  plan.wasted_reads_uniform = 0.05;
  EXPECT_EQ(plan.to_text(),
            "4.00 KiB for 100,100 keys of 2 runs, 225 B planned\n"
            "\n"
            "level  run   keys  filter  bits/key   size      rate\n"
            "    0    7    100  line       18.00  225 B  0.0500 %\n"
            "    1    2  100 K  none                        100 %\n"
            "\n"
            "wasted reads per lookup of an absent key\n"
            "  planned      [######..................] 0.0125\n"
            "  uniform bits [########################] 0.05\n");
}

TEST(ReportText, APlanShowsWhatIsObservedBesideWhatIsPlanned) {
  PlanReport plan;
  plan.runs = {{.keys = 1, .kind = "sliced", .bits_per_key = 4, .bytes = 1, .rate = 0.06}};
  plan.tables = {{.table = 7,
                  .level = 1,
                  .columns = 3,
                  .stored_columns = 16,
                  .asked_in_vain = 0.25,
                  .wasted_reads = 0.03125,
                  .observed_reads = 0.031},
                 {.table = 8,
                  .level = 1,
                  .columns = 5,
                  .stored_columns = 16,
                  .asked_in_vain = 0.75,
                  .wasted_reads = 0.0234,
                  .observed_reads = 0.04}};
  plan.filter_bytes_now = 2048;
  plan.wasted_reads_now = 0.0547;
  plan.wasted_reads_best = 0.05;
  plan.wasted_reads_observed = 0.071;
  plan.other_memory = {{1024, 0.25}, {2048, 0.05}, {4096, 0.003125}};
  const std::string text = plan.to_text();
  EXPECT_TRUE(has(text, "0.0547 wasted reads per get, at best 0.05, observed 0.071\n")) << text;
  EXPECT_TRUE(has(text,
                  "level  tables  columns in memory  asked in vain  reads planned  observed\n"
                  "    1       2             3 to 5              1         0.0547     0.071\n"
                  "\n"
                  "table  level  columns in memory  asked in vain  reads planned  observed\n"
                  "    8      1            5 of 16           0.75         0.0234      0.04\n"
                  "    7      1            3 of 16           0.25         0.0312     0.031\n"
                  "\n"
                  "filter memory  reads per get\n"
                  "     1.00 KiB           0.25  [########################]\n"
                  "     2.00 KiB           0.05  [################........]\n"
                  "     4.00 KiB        0.00313  [###.....................]\n"
                  "now, observed          0.071  [##################......]\n"))
      << text;
}

TEST(ReportText, StatsCountPlansOfFilters) {
  Stats stats;
  EXPECT_FALSE(has(stats.to_text(), "planned anew")) << stats.to_text();
  stats.memory.filter_plans = 3;
  stats.memory.filter_bytes_loaded = 5 << 20;
  EXPECT_TRUE(has(stats.to_text(), "filters planned anew 3 times, 5.00 MiB loaded\n")) << stats.to_text();
}

TEST(ReportText, APlanThatWastesNothingHasEmptyBars) {
  PlanReport plan;
  plan.runs = {{.keys = 1, .kind = "line", .bits_per_key = 20, .bytes = 3, .rate = 0}};
  EXPECT_TRUE(has(plan.to_text(), "planned      [........................] 0\n")) << plan.to_text();
}

TEST(ReportText, ARepairSaysWhatWasLostAndWhatIsInDoubt) {
  RepairReport report;
  report.tables_kept = 1;
  report.entries = 2000;
  EXPECT_EQ(report.to_text(), "Kept 1 table with 2,000 entries, and 0 entries from journals.\nNothing was lost.\n");
  report.is_dry_run = true;
  report.tables_left_out = 2;
  report.journal_entries = 1;
  report.lost = {{.file = "7.tms", .offset = 4096, .what = "checksum differs"}};
  report.doubts = {{.from = "a", .to = std::string("z\xff", 2), .why = "table 7 is gone"},
                   {.from = "b", .to = "c", .why = "its options are lost", .keyspace = "users"}};
  EXPECT_EQ(report.to_text(),
            "A dry run: nothing was changed.\n"
            "Kept 1 table with 2,000 entries, and 1 entry from journals.\n"
            "Omitted 2 tables whose entries are in other tables.\n"
            "Lost:\n"
            "  7.tms at 4096: checksum differs\n"
            "Deleted keys may have returned:\n"
            "  \"a\" to 0x7aff: table 7 is gone\n"
            "  keyspace \"users\", \"b\" to \"c\": its options are lost\n");
  report = {.manifest_lost = "cities/CURRENT: missing", .tables_kept = 2, .tables_rewritten = 1, .entries = 7};
  EXPECT_EQ(report.to_text(),
            "The manifest cannot be used: cities/CURRENT: missing\n"
            "The order of the tables was derived from the tables.\n"
            "Kept 3 tables with 7 entries, and 0 entries from journals.\n"
            "Of these, 1 table had damage and was rewritten.\n"
            "Nothing was lost.\n");
}

TEST(TextLayout, NumbersAreShort) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(99'999), "99,999");
  EXPECT_EQ(count_text(100'000), "100 K");
  EXPECT_EQ(count_text(999'600), "1.00 M");
  EXPECT_EQ(count_text(kMost), "18.4 E");
  EXPECT_EQ(count_of(1, "entry", "entries"), "1 entry");
  EXPECT_EQ(count_of(1'234'567, "table"), "1,234,567 tables");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1 << 20), "1.00 MiB");
  EXPECT_EQ(rate_text(0), "0 %");
  EXPECT_EQ(rate_text(0.00812), "0.812 %");
  EXPECT_EQ(rate_text(1e-9), "1.0e-09");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(61'000'000'000), "61.0 s");
}

TEST(TextLayout, BytesOfUsersCannotSpoilALine) {
  EXPECT_EQ(shown_bytes("", 8), "\"\"");
  EXPECT_EQ(shown_bytes("a\"b\\", 8), "\"a\\\"b\\\\\"");
  EXPECT_EQ(shown_bytes("a\nb", 8), "0x610a62");
  EXPECT_EQ(shown_bytes("0123456789", 4), "\"0123\"…");
  EXPECT_EQ(shown_bytes(std::string(9, '\0'), 8), "0x00000000…");
}

TEST(ReportText, ShowsWhatWasTimed) {
  Stats stats;
  EXPECT_FALSE(has(stats.to_text(), "time of"));
  stats.latencies.put = {.count = 12, .p50_ns = 1500, .p90_ns = 2500, .p99_ns = 3500, .p999_ns = 4500, .max_ns = 5500};
  stats.compaction_backlog = 3 << 20;
  stats.cache = {.hits = 5, .misses = 4, .index_hits = 2, .index_misses = 1};
  const std::string text = stats.to_text();
  EXPECT_TRUE(has(text,
                  "time of  timed   median     90 %     99 %   99.9 %  longest\n"
                  "put         12  1.50 us  2.50 us  3.50 us  4.50 us  5.50 us\n"))
      << text;
  EXPECT_FALSE(has(text, "get "));
  EXPECT_TRUE(has(text, "3.00 MiB of tables are to be compacted")) << text;
  EXPECT_TRUE(has(text, "of them for parts of indexes 2 hits, 1 miss")) << text;
}

}  // namespace
}  // namespace tamis
