// tamis stats: what a store holds, per level, and its costs.
#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "cli/store/common.h"
#include "cli/store/keyspaces.h"
#include "cli/store/stats.h"
#include "cli/verbs.h"
#include "tamis/prometheus.h"

namespace tamis::cli {
namespace {

std::uint64_t age_in_ms(const WriterStats& writer) { return static_cast<std::uint64_t>(writer.age.count()); }

JsonObject writer_json(const WriterStats& writer) {
  return JsonObject().add("process_id", writer.process_id).add("age_ms", age_in_ms(writer));
}

}  // namespace

JsonObject stats_json(const Stats& stats, const std::vector<KeyspaceInfo>& keyspaces,
                      const std::optional<WriterStats>& writer) {
  JsonObject json;
  if (writer) json.add("writer", writer_json(*writer));
  return json.add_list("keyspaces", keyspaces, keyspace_json).add_fields(stats.to_json());
}

int run_stats(Arguments arguments) {
  StoreArguments store;
  bool prometheus = false;
  CommandLine line({.summary =
                        "Shows what a store holds, level by level over all keyspaces, with filters and their error "
                        "rates; caches, journal, memory, amplification; each keyspace if there are several. Counters "
                        "start when a store is opened. Of a store that a process writes they are that process's, with "
                        "their age; of any other, most are 0.",
                    .usage = "DIR",
                    .example = "  tamis stats cities\n  tamis stats cities --prometheus",
                    .common = kJson});
  store.declare(line);
  line.flag("--prometheus", "print Prometheus's text format", prometheus);
  if (!line.read(arguments)) return kExitOk;
  if (prometheus && line.common().json) usage_error("--prometheus and --json: choose one of them");
  const DB db = store.open(StoreUse::kRead);
  const std::optional<WriterStats> writer = db.writer_stats();
  const Stats stats = writer ? writer->stats : db.stats();
  const std::vector<KeyspaceInfo> keyspaces = db.keyspaces();
  if (prometheus) {
    standard_output().write(to_prometheus(stats, keyspaces));
    return kExitOk;
  }
  if (line.common().json) {
    standard_output().write(stats_json(stats, keyspaces, writer).line());
    return kExitOk;
  }
  if (writer) {
    print_report(fmt::format("Counters of process {}, as of {:.1f} s ago\n\n", writer->process_id,
                             static_cast<double>(age_in_ms(*writer)) / 1000));
  }
  print_report(stats.to_text());
  if (keyspaces.size() > 1) print_report("\n" + keyspaces_text(keyspaces));
  return kExitOk;
}

}  // namespace tamis::cli
