#include "cli/torture/look.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <vector>

#include "cli/torture/folder.h"
#include "tamis/db.h"

namespace tamis::cli {
namespace {

/// Reads in every possible way; nothing writes.
Finding read_everything(TortureReader& reader, const TortureScript& script, const Expected& expected, Moment& found) {
  if (Finding finding = reader.scan(nullptr, found); !finding.is_right()) return finding;
  if (Finding finding = check_between(expected.at_least, found, expected.at_most); !finding.is_right()) return finding;
  if (Finding finding = reader.scan_backwards(nullptr, found); !finding.is_right()) return finding;
  if (Finding finding = reader.get_all(nullptr, found); !finding.is_right()) return finding;
  std::vector<std::uint32_t> all(script.keys());
  std::iota(all.begin(), all.end(), 0U);
  Moment again;
  if (Finding finding = reader.multi_get(all, nullptr, again); !finding.is_right()) return finding;
  if (Finding finding = check_between(found, again, found); !finding.is_right()) return finding;
  for (std::uint32_t writer = 0; writer < script.writers(); ++writer) {
    if (Finding finding = reader.scan_prefix(writer, nullptr, found); !finding.is_right()) return finding;
  }
  return {};
}

Finding verify(const DB& db) {
  const Result<VerifyReport> report = db.verify();
  if (!report.ok()) return Finding::told("verify", report.status());
  if (report->ok()) return {};
  const Problem& problem = report->problems.front();
  return Finding::wrong(fmt::format("verify: {} at {}: {}", problem.file, problem.offset, problem.what));
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_expected_name(std::string_view name) {
  if (name == "CURRENT" || name == "LOCK" || name == "LOG") return true;
  if (name.starts_with("MANIFEST-")) return is_number(name.substr(9));
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::string_view ending = name.substr(dot);
  return is_number(name.substr(0, dot)) && (ending == ".journal" || ending == ".tms");
}

Finding check_files(const std::string& path, std::uint64_t tables) {
  std::uint64_t found = 0;
  for (const std::string& name : names_in(path)) {
    if (!is_expected_name(name)) return Finding::wrong(fmt::format("unexpected file {} in the store's folder", name));
    found += name.ends_with(".tms") ? 1 : 0;
  }
  if (found == tables) return {};
  return Finding::wrong(fmt::format("the store has {} tables, its folder {}", tables, found));
}

std::uint64_t tables_of(const DB& db) {
  std::uint64_t tables = 0;
  for (const Stats::Level& level : db.stats().levels) tables += level.tables;
  return tables;
}

std::vector<std::string> tables_in(const std::string& path) {
  std::vector<std::string> names = names_in(path);
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(".tms"); });
  return names;
}

}  // namespace

Finding look_at_store(const std::string& path, const Options& options, const TortureScript& script,
                      const Expected& expected, TortureCounts& counts, Moment& found, bool checks_files) {
  Result<DB> db = DB::open(path, options);
  if (!db.ok()) return Finding::told("open", db.status());
  TortureReader reader(*db, script);
  Finding finding = read_everything(reader, script, expected, found);
  counts.reads += reader.reads();
  if (!finding.is_right()) return finding;
  if (finding = verify(*db); !finding.is_right()) return finding;
  if (const Status idle = db->wait_idle(); !idle.ok()) return Finding::told("wait_idle", idle);
  const std::uint64_t tables = tables_of(*db);
  if (const Status closed = db->close(); !closed.ok()) return Finding::told("close", closed);
  return checks_files ? check_files(path, tables) : Finding();
}

Finding look_without_writing(const std::string& path, Options options, const TortureScript& script,
                             const Expected& expected, TortureCounts& counts) {
  const std::vector<std::string> before = tables_in(path);
  options.read_only = true;
  {
    const Result<DB> db = DB::open(path, options);
    if (!db.ok()) {
      // A process killed before it created its store left none; then nothing was acknowledged.
      const bool is_empty = std::ranges::all_of(expected.at_least, [](std::uint64_t commits) { return commits == 0; });
      return is_empty && db.status().code() == StatusCode::kIoError ? Finding()
                                                                    : Finding::told("open --read-only", db.status());
    }
    counts.kills_in_tables += before.size() > tables_of(*db) ? 1 : 0;
    TortureReader reader(*db, script);
    Moment found;
    Finding finding = reader.scan(nullptr, found);
    counts.reads += reader.reads();
    if (!finding.is_right()) return finding;
    finding = check_between(expected.at_least, found, expected.at_most);
    if (!finding.is_right()) return finding;
  }
  return tables_in(path) == before ? Finding() : Finding::wrong("opening --read-only changed the tables on disk");
}

Finding look_at_checkpoint(const std::string& path, Options options, const TortureScript& script,
                           const Expected& expected, TortureCounts& counts) {
  if (!std::filesystem::exists(path + "/CURRENT")) return {};
  options.read_only = true;
  const Result<DB> db = DB::open(path, options);
  if (!db.ok()) return Finding::told("open of a checkpoint", db.status());
  ++counts.checkpoints;
  TortureReader reader(*db, script);
  Moment found;
  Finding finding = reader.scan(nullptr, found);
  counts.reads += reader.reads();
  return finding.is_right() ? check_between(Moment(found.size()), found, expected.at_most) : finding;
}

}  // namespace tamis::cli
