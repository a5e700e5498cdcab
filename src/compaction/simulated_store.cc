#include "compaction/simulated_store.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/try.h"
#include "compaction/plan_parts.h"

namespace tamis {
namespace {

bool may_be_in(const std::vector<const Run*>& runs, std::uint64_t key) {
  const std::string bytes = simulated_key(key);
  return std::ranges::any_of(runs, [&](const Run* run) {
    return !overlapping(*run, {.smallest = bytes, .end = KeyEnd::with(bytes)}).empty();
  });
}

}  // namespace

std::string simulated_key(std::uint64_t key) {
  std::string bytes(sizeof(key), '\0');
  store_be(bytes.data(), key);
  return bytes;
}

SimulatedStore::SimulatedStore(std::uint64_t entry_bytes, std::uint64_t table_bytes)
    : entry_bytes_(std::max<std::uint64_t>(1, entry_bytes)), table_bytes_(std::max(entry_bytes_, table_bytes)) {}

Status SimulatedStore::flush(std::vector<SimulatedWrite> writes, std::uint64_t now_unix_seconds) {
  const auto by_key = [](const SimulatedWrite& a, const SimulatedWrite& b) { return a.key < b.key; };
  std::ranges::reverse(writes);  // So that the later write of equal keys comes first.
  std::ranges::stable_sort(writes, by_key);
  const auto same_key = [](const SimulatedWrite& a, const SimulatedWrite& b) { return a.key == b.key; };
  writes.erase(std::unique(writes.begin(), writes.end(), same_key), writes.end());

  ShapeEdit edit;
  for (auto& facts : make_tables(writes, 0, now_unix_seconds, now_unix_seconds)) {
    bytes_flushed_ += facts->file_bytes;
    edit.added.push_back({.level = 0, .run = next_run_, .facts = std::move(facts)});
  }
  ++next_run_;
  TAMIS_TRY(shape_, shape_.with(edit));
  return {};
}

Status SimulatedStore::run(const CompactionPlan& plan) {
  TAMIS_TRY(const Tables tables, write(plan));
  return install(plan, tables);
}

Result<SimulatedStore::Tables> SimulatedStore::write(const CompactionPlan& plan) {
  TAMIS_TRY_STATUS(check_plan(shape_, plan));
  Tables tables;
  std::uint64_t created = 0;
  std::uint64_t oldest_delete = 0;
  for (const CompactionInput& input : plan.inputs) {
    for (const auto& table : shape_.find_run(input.level, input.run)->tables) {
      if (std::ranges::count(input.tables, table->number) == 0) continue;
      tables.push_back(table);
      created = std::max(created, table->created_unix_seconds);
      const std::uint64_t since = table->oldest_delete_unix_seconds;
      if (since != 0 && (oldest_delete == 0 || since < oldest_delete)) oldest_delete = since;
    }
  }
  if (!plan.is_move) tables = make_tables(merge(plan), plan.output_level, created, oldest_delete);
  return tables;
}

std::optional<SimulatedWrite> SimulatedStore::find(std::uint64_t key) const {
  const std::string bytes = simulated_key(key);
  for (const std::vector<Run>& level : shape_.levels) {
    for (const Run& run : level) {
      for (const auto& table : overlapping(run, {.smallest = bytes, .end = KeyEnd::with(bytes)})) {
        const Writes& writes = contents_.at(table->number);
        const auto at = std::ranges::lower_bound(writes, key, {}, &SimulatedWrite::key);
        if (at == writes.end() || at->key != key) continue;
        return at->is_delete ? std::nullopt : std::optional(*at);
      }
    }
  }
  return std::nullopt;
}

std::vector<SimulatedWrite> SimulatedStore::writes() const {
  Writes all;
  for (const auto& [number, writes] : contents_) all.insert(all.end(), writes.begin(), writes.end());
  return all;
}

std::uint64_t SimulatedStore::runs_around(std::uint64_t key) const {
  const std::string bytes = simulated_key(key);
  std::uint64_t runs = 0;
  for (const std::vector<Run>& level : shape_.levels) {
    for (const Run& run : level)
      runs += overlapping(run, {.smallest = bytes, .end = KeyEnd::with(bytes)}).empty() ? 0 : 1;
  }
  return runs;
}

SimulatedStore::Writes SimulatedStore::merge(const CompactionPlan& plan) const {
  Writes all;
  for (const CompactionInput& input : plan.inputs) {  // Newest first, and the sort is stable.
    for (const std::uint64_t number : input.tables) {
      const Writes& writes = contents_.at(number);
      all.insert(all.end(), writes.begin(), writes.end());
    }
  }
  std::ranges::stable_sort(all, {}, &SimulatedWrite::key);
  const std::vector<const Run*> older = runs_older_than_inputs(shape_, plan);
  Writes kept;
  std::optional<std::uint64_t> before;
  for (const SimulatedWrite& write : all) {
    const bool is_newest = before != write.key;
    before = write.key;
    if (is_newest && (!write.is_delete || may_be_in(older, write.key))) kept.push_back(write);
  }
  return kept;
}

SimulatedStore::Tables SimulatedStore::make_tables(const Writes& writes, std::uint32_t level, std::uint64_t created,
                                                   std::uint64_t oldest_delete) {
  Tables tables;
  const LevelZeroCuts cuts = level <= 1 ? cuts_ : LevelZeroCuts();
  const std::uint64_t cut_bytes = level == 0 ? cuts.bytes_in_level_zero : cuts.bytes_in_level_one;
  const std::size_t per_table = std::max<std::uint64_t>(1, std::min(table_bytes_, cut_bytes) / entry_bytes_);
  for (std::size_t begin = 0, end = 0; begin < writes.size(); begin = end) {
    const auto cut = std::ranges::upper_bound(cuts.keys, simulated_key(writes[begin].key));
    end = begin + 1;
    while (end < writes.size() && end - begin < per_table &&
           (cut == cuts.keys.end() || simulated_key(writes[end].key) < *cut)) {
      ++end;
    }
    Writes part(writes.begin() + static_cast<std::ptrdiff_t>(begin), writes.begin() + static_cast<std::ptrdiff_t>(end));
    auto facts = std::make_shared<TableFacts>();
    facts->number = next_number_++;
    facts->entries = facts->keys = part.size();
    facts->file_bytes = part.size() * entry_bytes_;
    facts->deletes = static_cast<std::uint64_t>(std::ranges::count(part, true, &SimulatedWrite::is_delete));
    facts->smallest_key = simulated_key(part.front().key);
    facts->largest_key = simulated_key(part.back().key);
    const auto [oldest, newest] = std::ranges::minmax_element(part, {}, &SimulatedWrite::version);
    facts->smallest_sequence = Sequence{oldest->version};
    facts->largest_sequence = Sequence{newest->version};
    facts->created_unix_seconds = created;
    facts->oldest_delete_unix_seconds = facts->deletes == 0 ? 0 : oldest_delete;
    bytes_written_ += facts->file_bytes;
    contents_[facts->number] = std::move(part);
    tables.push_back(std::move(facts));
  }
  return tables;
}

Status SimulatedStore::install(const CompactionPlan& plan, const Tables& tables) {
  TAMIS_TRY_STATUS(check_plan(shape_, plan));
  ShapeEdit edit;
  for (const CompactionInput& input : plan.inputs) {
    edit.removed.insert(edit.removed.end(), input.tables.begin(), input.tables.end());
  }
  for (const auto& facts : tables) {
    edit.added.push_back({.level = plan.output_level, .run = plan.output_run, .facts = facts});
  }
  TAMIS_TRY(shape_, shape_.with(edit));
  if (!plan.is_move) {
    for (const std::uint64_t number : edit.removed) contents_.erase(number);
  }
  return {};
}

}  // namespace tamis
