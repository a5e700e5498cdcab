#include "cli/torture/look.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <utility>
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

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_expected_name(std::string_view name) {
  if (name == "CURRENT" || name == "LOCK" || name == "LOG") return true;
  if (name.starts_with("MANIFEST-")) return is_number(name.substr(9));
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::string_view ending = name.substr(dot);
  return is_number(name.substr(0, dot)) && (ending == ".journal" || ending == ".tms" || ending == ".values");
}

Finding check_files(const std::string& path, std::uint64_t tables, std::uint64_t value_files) {
  std::uint64_t tables_there = 0;
  std::uint64_t value_files_there = 0;
  for (const std::string& name : names_in(path)) {
    if (!is_expected_name(name)) return Finding::wrong(fmt::format("unexpected file {} in the store's folder", name));
    tables_there += name.ends_with(".tms") ? 1 : 0;
    value_files_there += name.ends_with(".values") ? 1 : 0;
  }
  if (tables_there == tables && value_files_there == value_files) return {};
  return Finding::wrong(fmt::format("the store has {} tables and {} value files, its folder {} and {}", tables,
                                    value_files, tables_there, value_files_there));
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

bool is_of_damage(StatusCode code) { return code == StatusCode::kCorruption || code == StatusCode::kNotSupported; }

std::string text_of(const Flip& flip) {
  return fmt::format("{} at {} changed by {}", flip.file, flip.offset, flip.difference);
}

void make_damaged_copy(const std::string& store, const std::string& copy, const Flip& flip) {
  copy_store(store, copy, flip.file);
  flip_byte(copy + "/" + flip.file, flip.offset, flip.difference);
}

using Places =
    std::map<std::string, std::pair<std::uint32_t, std::uint32_t>, std::less<>>;  ///< Writer and index by key.

Finding check_history_of(const Keyspace& keyspace, const Places& places, const TortureScript& script,
                         const Moment& at_most) {
  Iterator walk = keyspace.scan();
  for (; walk.valid(); walk.next()) {
    const bool is_second = keyspace.id() != 0;
    if (!is_second && walk.key().starts_with("note") && script.parse_note(walk.value())) continue;
    const auto place = places.find(walk.key());
    if (place == places.end()) return Finding::wrong(fmt::format("after repair, it holds {}", walk.key()));
    const auto [writer, index] = place->second;
    if (TortureScript::is_in_second_keyspace(index) != is_second) {
      return Finding::wrong(fmt::format("after repair, {} is in keyspace {}", walk.key(), keyspace.name()));
    }
    if (!script.may_be_left(writer, index, walk.value(), at_most[writer])) {
      return Finding::wrong(fmt::format("after repair, {} holds a value that was never written", walk.key()));
    }
  }
  return walk.status().ok() ? Finding() : Finding::told("scan after repair", walk.status());
}

/// A repaired store holds only what was once written. Repair may have to give the second keyspace another name.
Finding check_history(DB& db, const TortureScript& script, const Moment& at_most) {
  Places places;
  for (std::uint32_t writer = 0; writer < script.writers(); ++writer) {
    for (std::uint32_t index = 0; index < script.keys(); ++index) places[script.key(writer, index)] = {writer, index};
  }
  for (const KeyspaceInfo& info : db.keyspaces()) {
    const Result<Keyspace> keyspace = db.keyspace(info.name);
    if (!keyspace.ok()) return Finding::told("open of a keyspace after repair", keyspace.status());
    Finding finding = check_history_of(*keyspace, places, script, at_most);
    if (!finding.is_right()) return finding;
  }
  return {};
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
  const std::uint64_t value_files = db->stats().values.files;
  if (const Status closed = db->close(); !closed.ok()) return Finding::told("close", closed);
  return checks_files ? check_files(path, tables, value_files) : Finding();
}

Finding look_without_writing(const std::string& path, Options options, const TortureScript& script,
                             const Expected& expected, TortureCounts& counts) {
  const std::vector<std::string> before = tables_in(path);
  options.read_only = true;
  {
    Result<DB> db = DB::open(path, options);
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

Finding look_beside_writer(DB& follower, const TortureScript& script, const Moment& at_least, TortureCounts& counts,
                           Moment& found) {
  if (const auto moved = follower.catch_up(); !moved.ok()) return Finding::told("catch_up", moved.status());
  ++counts.followed;
  TortureReader reader(follower, script);
  const Snapshot snapshot = follower.snapshot();
  Finding finding = reader.scan(&snapshot, found);
  counts.reads += reader.reads();
  if (finding.is_right()) finding = check_between(at_least, found, Moment(found.size(), ~std::uint64_t{0}));
  if (!finding.is_right()) finding.what = "a follower: " + finding.what;
  return finding;
}

Finding look_at_checkpoint(const std::string& path, Options options, const TortureScript& script,
                           const Expected& expected, TortureCounts& counts) {
  if (!std::filesystem::exists(path + "/CURRENT")) return {};
  options.read_only = true;
  Result<DB> db = DB::open(path, options);
  if (!db.ok()) return Finding::told("open of a checkpoint", db.status());
  ++counts.checkpoints;
  TortureReader reader(*db, script);
  Moment found;
  Finding finding = reader.scan(nullptr, found);
  counts.reads += reader.reads();
  return finding.is_right() ? check_between(Moment(found.size()), found, expected.at_most) : finding;
}

std::optional<Flip> draw_flip(const std::string& store, Draw& draw) {
  std::vector<std::string> names = names_in(store);
  std::erase(names, "LOCK");
  std::erase_if(names, [&](const std::string& name) {
    std::error_code error;
    return !std::filesystem::is_regular_file(store + "/" + name, error) ||
           std::filesystem::file_size(store + "/" + name, error) == 0;
  });
  if (names.empty()) return std::nullopt;
  const std::string file = draw.one_of(names);
  return Flip{.file = file,
              .offset = draw.below(std::filesystem::file_size(store + "/" + file)),
              .difference = static_cast<std::uint8_t>(1 + draw.below(255))};
}

Finding look_at_flip(const std::string& store, const std::string& copy, const Flip& flip, const Options& options,
                     const TortureScript& script, const Expected& expected, TortureCounts& counts) {
  make_damaged_copy(store, copy, flip);
  ++counts.flips;
  bool was_told = false;
  const auto excused = [&](Finding finding) -> Finding {  // If it only reports the damage.
    if (finding.kind == Finding::Kind::kTold && is_of_damage(finding.code)) {
      was_told = true;
      return {};
    }
    if (!finding.is_right()) finding.what = fmt::format("{}: {}", text_of(flip), finding.what);
    return finding;
  };
  Result<DB> db = DB::open(copy, options);
  if (!db.ok()) {
    ++counts.flips_refused;
    return excused(Finding::told("open", db.status()));
  }
  TortureReader reader(*db, script);
  Moment found;
  Finding finding = excused(reader.scan(nullptr, found));
  const bool has_notes = !found.empty();
  if (finding.is_right() && has_notes) finding = excused(check_between(expected.at_least, found, expected.at_most));
  if (!has_notes && expected.at_least == expected.at_most) found = expected.at_most;  // The only possible moment.
  if (finding.is_right() && !found.empty()) finding = excused(reader.scan_backwards(nullptr, found));
  if (finding.is_right() && !found.empty()) finding = excused(reader.get_all(nullptr, found));
  counts.reads += reader.reads();
  counts.flips_told += was_told ? 1 : 0;
  return finding;
}

Finding repair_sound(const std::string& store, const std::string& copy, const Options& options,
                     const TortureScript& script, const Expected& expected, TortureCounts& counts) {
  copy_store(store, copy);
  ++counts.repairs;
  const Result<RepairReport> report = DB::repair(copy);
  if (!report.ok()) return Finding::told("repair of an undamaged store", report.status());
  if (!report->lost.empty()) {
    return Finding::wrong(fmt::format("repair of an undamaged store lost: {}", report->lost.front().what));
  }
  Moment found;
  Finding finding = look_at_store(copy, options, script, expected, counts, found, /*checks_files=*/false);
  if (!finding.is_right()) finding.what = "after repair of an undamaged store: " + finding.what;
  return finding;
}

Finding repair_damaged(const std::string& store, const std::string& copy, const Flip& flip, const Options& options,
                       const TortureScript& script, const Moment& moment, TortureCounts& counts) {
  make_damaged_copy(store, copy, flip);
  ++counts.repairs;
  const auto after = [&](std::string_view what) {
    return Finding::wrong(fmt::format("repair after {}: {}", text_of(flip), what));
  };
  const Result<RepairReport> report = DB::repair(copy);
  if (!report.ok()) return after(report.status().to_text());
  Result<DB> db = DB::open(copy, options);
  if (!db.ok()) return after(db.status().to_text());
  const Finding history = check_history(*db, script, moment);
  // Repair keeps what points to a damaged value; its readers get an error, as before.
  const bool may_be_told = flip.file.ends_with(".values");
  if (may_be_told && history.kind == Finding::Kind::kTold && is_of_damage(history.code)) return {};
  if (!history.is_right()) return after(history.what);
  const bool has_excuse = !report->lost.empty() || !report->doubts.empty() || !report->manifest_lost.empty();
  TortureReader reader(*db, script);
  Moment found;
  Finding finding = reader.scan(nullptr, found);
  counts.reads += reader.reads();
  if (finding.is_right()) finding = check_between(moment, found, moment);
  if (!finding.is_right() && !has_excuse) return after(fmt::format("nothing was lost, but {}", finding.what));
  const Result<VerifyReport> verified = db->verify();
  if (!verified.ok()) return after(verified.status().to_text());
  if (!verified->ok() && !may_be_told) return after("verify: " + verified->problems.front().what);
  return {};
}

}  // namespace tamis::cli
