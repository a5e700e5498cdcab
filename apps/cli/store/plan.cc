// tamis plan: how filter memory is divided among runs; or, with --size, what a store would cost.
#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cli/numbers.h"
#include "cli/store/common.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "tamis/scale.h"

namespace tamis::cli {
namespace {

/// The options of `tamis plan` that go with --size.
struct ScaleArguments {
  std::optional<std::uint64_t> size;
  std::optional<std::uint64_t> key_bytes;
  std::optional<std::uint64_t> value_bytes;
  std::optional<std::uint64_t> load_per_day;
  std::optional<std::uint64_t> disk;
  std::optional<std::uint64_t> disks;
  std::optional<std::uint64_t> compaction_threads;

  void declare(CommandLine& line) {
    line.option("--size", "BYTES", "plan a hypothetical store with this many bytes of keys and values", size,
                parse_disk_bytes);
    line.option("--key-bytes", "N", "with --size: bytes per key (16)", key_bytes, parse_count);
    line.option("--value-bytes", "N", "with --size: bytes per value (100)", value_bytes, parse_count);
    line.option("--load-per-day", "BYTES", "with --size: keys and values written per day (100GB)", load_per_day,
                parse_disk_bytes);
    line.option("--disk", "BYTES", "with --size: disk throughput per second (500MB)", disk, parse_disk_bytes);
    line.option("--disks", "N", "with --size: disks, over which files are spread (1)", disks, parse_count);
    line.option("--compaction-threads", "N", "with --size: threads that compact at once (1)", compaction_threads,
                parse_count);
  }

  [[nodiscard]] ScaleQuestion question(const Options& options) const {
    ScaleQuestion question;
    question.options = options;
    question.store_bytes = size.value_or(0);
    question.key_bytes = key_bytes.value_or(question.key_bytes);
    question.value_bytes = value_bytes.value_or(question.value_bytes);
    question.load_bytes_per_day = load_per_day.value_or(question.load_bytes_per_day);
    question.disk_bytes_per_second = disk.value_or(question.disk_bytes_per_second);
    question.disks = small(disks, question.disks);
    question.compaction_threads = small(compaction_threads, question.compaction_threads);
    return question;
  }

 private:
  static std::uint32_t small(const std::optional<std::uint64_t>& given, std::uint32_t otherwise) {
    constexpr std::uint64_t kMost = 1'000'000;
    return static_cast<std::uint32_t>(std::min(given.value_or(otherwise), kMost));
  }
};

JsonObject constants_json(const ScaleConstants& constants) {
  return JsonObject()
      .add("flush_ns_per_entry", constants.flush_ns_per_entry)
      .add("flush_ns_per_byte", constants.flush_ns_per_byte)
      .add("merge_ns_per_entry", constants.merge_ns_per_entry)
      .add("merge_ns_per_byte", constants.merge_ns_per_byte)
      .add("open_ns_per_table", constants.open_ns_per_table)
      .add("replay_ns_per_entry", constants.replay_ns_per_entry)
      .add("load_ns_per_byte", constants.load_ns_per_byte)
      .add("memory_bytes_per_table", constants.memory_bytes_per_table);
}

JsonObject level_json(const ScalePlan::Level& level) {
  return JsonObject()
      .add("level", level.level)
      .add("runs", level.runs)
      .add("tables", level.tables)
      .add("keys", level.keys)
      .add("bytes", level.bytes)
      .add("filter_kind", level.filter_kind)
      .add("bits_per_key", level.bits_per_key)
      .add("filter_bytes", level.filter_bytes)
      .add("wasted_reads", level.wasted_reads);
}

JsonObject as_json(const ScaleQuestion& question, const ScalePlan& plan) {
  JsonObject object;
  object.add("size", question.store_bytes)
      .add("key_bytes", question.key_bytes)
      .add("value_bytes", question.value_bytes)
      .add("compaction", question.options.compaction)
      .add("memory_bytes", question.options.memory_bytes)
      .add("memtable_bytes", question.options.memtable_bytes)
      .add("load_per_day", question.load_bytes_per_day)
      .add("disk_bytes_per_second", question.disk_bytes_per_second)
      .add("disks", question.disks)
      .add("compaction_threads", question.compaction_threads);
  object.add("entries", plan.entries)
      .add("entries_per_flush", plan.entries_per_flush)
      .add("runs", plan.runs)
      .add("tables", plan.tables)
      .add("bytes_on_disk", plan.bytes_on_disk)
      .add("manifest_bytes", plan.manifest_bytes)
      .add("simulated_flushes", plan.simulated_flushes)
      .add("levels_beyond_simulated", plan.levels_beyond_simulated);
  object.add("index_bytes", plan.memory.index_bytes)
      .add("filter_bytes", plan.memory.filter_bytes)
      .add("memtable_share", plan.memory.memtable_share)
      .add("journal_share", plan.memory.journal_share)
      .add("transaction_share", plan.memory.transaction_share)
      .add("index_share", plan.memory.index_share)
      .add("filter_share", plan.memory.filter_share)
      .add("block_share", plan.memory.block_share)
      .add("memory_beyond_budget", plan.memory.beyond_budget);
  object.add("wasted_reads", plan.reads.wasted)
      .add("wasted_reads_uniform", plan.reads.wasted_uniform)
      .add("reads_per_absent", plan.reads.per_absent)
      .add("reads_per_present", plan.reads.per_present)
      .add("write_amplification", plan.writing.amplification)
      .add("fill_write_amplification", plan.writing.fill_amplification)
      .add("largest_compaction_bytes", plan.writing.largest_compaction_bytes)
      .add("largest_compaction_hours", plan.writing.largest_compaction_hours)
      .add("compaction_hours_per_day", plan.writing.compaction_hours_per_day)
      .add("flush_hours_per_day", plan.writing.flush_hours_per_day)
      .add("most_load_per_day", plan.writing.max_load_bytes_per_day)
      .add("fill_hours", plan.writing.fill_hours);
  object.add("open_seconds", plan.opening.after_close_seconds)
      .add("open_after_crash_seconds", plan.opening.after_crash_seconds)
      .add("warm_seconds", plan.opening.warm_seconds)
      .add_list("levels", plan.levels, level_json)
      .add("warnings", plan.warnings);
  // The constants come last: they are the same in every answer.
  return object.add("constants", constants_json(question.constants));
}

std::string levels_text(const ScalePlan& plan) {
  Table table({{"level"},
               {"runs"},
               {"tables"},
               {"keys"},
               {"size"},
               {"filter", Table::Align::kLeft},
               {"bits/key"},
               {"filters"},
               {"wasted"}});
  for (const ScalePlan::Level& level : plan.levels) {
    table.add({std::to_string(level.level), with_thousands(level.runs), with_thousands(level.tables),
               human_count(level.keys), human_disk_bytes(level.bytes), level.filter_kind,
               fmt::format("{:.2f}", level.bits_per_key), human_bytes(level.filter_bytes),
               fmt::format("{:.2g}", level.wasted_reads)});
  }
  return table.text();
}

/// "reads       absent key …"; further lines are indented below the first.
std::string labelled(std::string_view label, const std::string& figures) {
  constexpr std::size_t kLabelWidth = 12;
  std::string text;
  for (const std::string& part : wrap(figures, 80 - kLabelWidth)) {
    text += fmt::format("{:<{}}{}\n", text.empty() ? label : "", kLabelWidth, part);
  }
  return text;
}

std::string storage_text(const ScaleQuestion& question, const ScalePlan& plan) {
  return labelled("on disk", fmt::format("{} in {} tables, {} runs; manifest {}", human_disk_bytes(plan.bytes_on_disk),
                                         with_thousands(plan.tables), plan.runs, human_bytes(plan.manifest_bytes))) +
         labelled("wanted", fmt::format("indexes {}, filters {}", human_bytes(plan.memory.index_bytes),
                                        human_bytes(plan.memory.filter_bytes))) +
         labelled("memory",
                  fmt::format("{}: memtables {}, filters {}, indexes {}, blocks {}; plus {} for table "
                              "metadata",
                              human_bytes(question.options.memory_bytes), human_bytes(plan.memory.memtable_share),
                              human_bytes(plan.memory.filter_share), human_bytes(plan.memory.index_share),
                              human_bytes(plan.memory.block_share), human_bytes(plan.memory.beyond_budget)));
}

/// "9.4 seconds", "12 minutes", "4.7 hours" or "3.1 days".
std::string time_text(double hours) {
  if (hours * 3600 < 60) return fmt::format("{:.2g} seconds", hours * 3600);
  if (hours * 60 < 60) return fmt::format("{:.0f} minutes", hours * 60);
  if (hours < 48) return fmt::format("{:.1f} hours", hours);
  return fmt::format("{:.1f} days", hours / 24);
}

std::string work_text(const ScaleQuestion& question, const ScalePlan& plan) {
  return labelled("reads", fmt::format("absent key {:.3g}, present key {:.3g}; runs searched in vain {:.3g}",
                                       plan.reads.per_absent, plan.reads.per_present, plan.reads.wasted)) +
         labelled("writes", fmt::format("amplification {:.1f} at that size, {:.1f} from empty",
                                        plan.writing.amplification, plan.writing.fill_amplification)) +
         labelled("compaction",
                  fmt::format("{} for a day of {}, max {} a day; {} to fill it; the largest writes {} in {}",
                              time_text(plan.writing.compaction_hours_per_day),
                              human_disk_bytes(question.load_bytes_per_day),
                              human_disk_bytes(plan.writing.max_load_bytes_per_day), time_text(plan.writing.fill_hours),
                              human_disk_bytes(plan.writing.largest_compaction_bytes),
                              time_text(plan.writing.largest_compaction_hours))) +
         labelled("opening", fmt::format("{:.2f} s, {:.2f} s after a crash; {:.1f} s to read indexes and filters",
                                         plan.opening.after_close_seconds, plan.opening.after_crash_seconds,
                                         plan.opening.warm_seconds));
}

std::string counted(std::uint32_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string origin_text(const ScaleQuestion& question, const ScalePlan& plan) {
  const std::uint32_t beyond = plan.levels_beyond_simulated;
  const std::string rule =
      beyond == 0 ? "" : fmt::format(", {} level{} beyond by rule", beyond, beyond == 1 ? "" : "s");
  std::string text = "\n";
  for (const std::string& part :
       wrap(fmt::format("Simulated over {} memtables{}. Times are for the machine in docs/SCALE.md, with {} of {}/s "
                        "and {} for compactions.",
                        with_thousands(plan.simulated_flushes), rule, counted(question.disks, "disk"),
                        human_disk_bytes(question.disk_bytes_per_second),
                        counted(question.compaction_threads, "thread")),
            80)) {
    text += part + "\n";
  }
  return text;
}

std::string as_text(const ScaleQuestion& question, const ScalePlan& plan) {
  std::string text =
      fmt::format("{} of keys and values: {} entries of {} + {} bytes, {}\n\n{}\n",
                  human_disk_bytes(question.store_bytes), with_thousands(plan.entries), question.key_bytes,
                  question.value_bytes, question.options.compaction, levels_text(plan));
  text += storage_text(question, plan) + work_text(question, plan) + origin_text(question, plan);
  for (const std::string& warning : plan.warnings) {
    text += "\n";
    for (const std::string& part : wrap("! " + warning, 80)) text += part + "\n";
  }
  return text;
}

}  // namespace

int run_plan(Arguments arguments) {
  StoreArguments store;
  ScaleArguments scale;
  std::optional<std::string> directory;
  std::optional<std::uint64_t> memory;
  CommandLine line({.summary =
                        "Shows the filter plan for the current runs of the default keyspace: bits per key and bytes "
                        "for each, and the reads "
                        "that a lookup of an absent key is expected to waste, compared with uniform bits. With --size "
                        "instead of DIR: what a store of that size would cost in memory, reads, rewriting and time to "
                        "open, computed and simulated (docs/SCALE.md).",
                    .usage = "DIR [--filter-memory BYTES] | --size BYTES",
                    .example = "  tamis plan cities --filter-memory 16M\n"
                               "  tamis plan --size 1TB --option memory_bytes=64G --load-per-day 200GB",
                    .common = kJson});
  line.optional_operand("DIR", "the store's folder", directory);
  store.declare_options(line);
  line.option("--filter-memory", "BYTES", "plan for this much memory instead of the store's own", memory, parse_bytes);
  scale.declare(line);
  if (!line.read(arguments)) return kExitOk;
  if (scale.size) {
    if (directory) {
      usage_error("give DIR, for an existing store, or --size, for a hypothetical one, not both");
    }
    Options options = store.options(StoreUse::kCreate);
    if (memory) options.filter_memory = memory;
    const ScaleQuestion question = scale.question(options);
    const ScalePlan plan = need(plan_scale(question));
    standard_output().write(line.common().json ? as_json(question, plan).line() : as_text(question, plan));
    return kExitOk;
  }
  if (!directory) usage_error("DIR or --size is missing; see 'tamis plan --help'");
  store.directory = *directory;
  line.refuse({"--key-bytes", "--value-bytes", "--load-per-day", "--disk", "--disks", "--compaction-threads"},
              "needs --size; see 'tamis plan --help'");
  const PlanReport plan = store.open(StoreUse::kRead).plan(memory);
  print_report(line.common().json ? plan.to_json() + "\n" : plan.to_text());
  return kExitOk;
}

}  // namespace tamis::cli
