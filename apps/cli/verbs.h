// The verbs of the command, and how a command line finds its verb. Includes what every verb uses.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/error.h"
#include "cli/output.h"
#include "text/json.h"

namespace tamis::cli {

/// Runs the command given by these words (without the program's name) and returns the exit status.
int run_command(std::span<const std::string> words);

/// A verb and its help.
struct DescribedVerb {
  std::string_view name;     ///< "filter size".
  std::string_view summary;  ///< For the overview: half a line.
  VerbDescription description;
};

/// All public verbs, in overview order.
std::vector<DescribedVerb> describe_verbs();

// One function per verb, in the file of its name, or with its kin: bucket check in bucket.cc, delete with put,
// multi-get and explain with get, count and dump with scan, repair with verify; flush, compact and checkpoint in
// store/maintain.cc; filter union, intersect and convert in filter/combine.cc, size with build, info with probe,
// rebuild with verify; filter kinds, filter formats and options in lists.cc; import rocksdb with leveldb.
int run_bench(Arguments arguments);
int run_bucket_check(Arguments arguments);
int run_checkpoint(Arguments arguments);
int run_compact(Arguments arguments);
int run_completion(Arguments arguments);
int run_count(Arguments arguments);
int run_delete(Arguments arguments);
int run_delete_range(Arguments arguments);
int run_merge(Arguments arguments);
int run_demo(Arguments arguments);
int run_dump(Arguments arguments);
int run_explain(Arguments arguments);
int run_filter_convert(Arguments arguments);
int run_filter_build(Arguments arguments);
int run_filter_formats(Arguments arguments);
int run_filter_info(Arguments arguments);
int run_filter_intersect(Arguments arguments);
int run_filter_kinds(Arguments arguments);
int run_filter_plot(Arguments arguments);
int run_filter_probe(Arguments arguments);
int run_filter_add(Arguments arguments);
int run_filter_remove(Arguments arguments);
int run_filter_rebuild(Arguments arguments);
int run_filter_size(Arguments arguments);
int run_filter_union(Arguments arguments);
int run_filter_verify(Arguments arguments);
int run_flush(Arguments arguments);
int run_get(Arguments arguments);
int run_import_leveldb(Arguments arguments);
int run_import_rocksdb(Arguments arguments);
int run_keyspaces(Arguments arguments);
int run_load(Arguments arguments);
int run_manual(Arguments arguments);
int run_multi_get(Arguments arguments);
int run_options(Arguments arguments);
int run_plan(Arguments arguments);
int run_put(Arguments arguments);
int run_repair(Arguments arguments);
int run_scan(Arguments arguments);
int run_stats(Arguments arguments);
int run_table(Arguments arguments);
int run_top(Arguments arguments);
int run_torture(Arguments arguments);
int run_torture_writer(Arguments arguments);
int run_verify(Arguments arguments);
int run_version(Arguments arguments);
int run_web(Arguments arguments);

}  // namespace tamis::cli
