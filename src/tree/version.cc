#include "tree/version.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "table/value_pointers.h"

namespace tamis {
namespace {

bool has_entries(const std::shared_ptr<const TableFacts>& facts) { return !facts->has_range_deletes_alone(); }

/// Null if there is none.
const TableFacts* first_with_entries(const Run& run) {
  const auto found = std::ranges::find_if(run.tables, has_entries);
  return found == run.tables.end() ? nullptr : found->get();
}
const TableFacts* last_with_entries(const Run& run) {
  const auto found = std::find_if(run.tables.rbegin(), run.tables.rend(), has_entries);
  return found == run.tables.rend() ? nullptr : found->get();
}

/// Of level 0; 0 if it is empty.
std::uint64_t newest_flushed_run(const Shape& shape) {
  return shape.levels.empty() || shape.levels[0].empty() ? 0 : shape.levels[0].front().id;
}

}  // namespace

Version::Version(Shape shape, const Version* before, const TableContext& context)
    : Version(std::move(shape), before, context, before == nullptr ? RunColumns() : before->run_index_.columns()) {}

Version::Version(Shape shape, const Version* before, const TableContext& context, const RunColumns& columns)
    : shape_(std::move(shape)), run_index_(shape_, columns) {
  const std::size_t count = shape_.tables();
  tables_.reserve(count);
  heads_.reserve(count);
  by_number_.reserve(count);
  add_runs(before, context);
  range_deletes_ = TableRangeDeletes::of(tables_, before == nullptr ? nullptr : before->range_deletes_);
  value_files_.reserve(shape_.value_files.size());
  for (const ValueFileFacts& facts : shape_.value_files) {
    std::shared_ptr<ValueFile> file = before == nullptr ? nullptr : before->value_file(facts.number);
    if (file == nullptr) file = std::make_shared<ValueFile>(facts, context);
    value_files_.push_back(std::move(file));
  }
  const bool follows_flush = before == nullptr || newest_flushed_run(shape_) > newest_flushed_run(before->shape_);
  if (!follows_flush) extra_runs_scanned_.add(before->extra_runs_scanned());
}

/// The tables with entries come first: of runs that continue each other, the oldest one's first, so that all of them
/// are in key order.
void Version::add_runs(const Version* before, const TableContext& context) {
  std::vector<const Run*> runs;
  for (std::uint32_t level = 0; level < shape_.levels.size(); ++level) {
    for (const Run& run : shape_.levels[level]) {
      runs_.push_back({.level = level});
      runs.push_back(&run);
    }
  }
  std::vector<std::uint32_t> continued;  // Runs, newest first. Each has larger keys than the next.
  for (std::uint32_t run = 0; run < runs.size(); ++run) {
    const TableFacts* const last = last_with_entries(*runs[run]);
    if (last == nullptr) continue;
    if (!continued.empty() && first_with_entries(*runs[continued.back()])->smallest_key <= last->largest_key) {
      add_scan_run(std::exchange(continued, {}), runs, before, context);
    }
    continued.push_back(run);
  }
  if (!continued.empty()) add_scan_run(continued, runs, before, context);
  for (std::uint32_t run = 0; run < runs.size(); ++run) {
    if (runs_[run].tables.count == 0) runs_[run].tables.first = static_cast<std::uint32_t>(tables_.size());
    for (const std::shared_ptr<const TableFacts>& facts : runs[run]->tables) {
      if (!has_entries(facts)) add_table(facts, before, context);
    }
  }
}

void Version::add_scan_run(const std::vector<std::uint32_t>& continued, const std::vector<const Run*>& runs,
                           const Version* before, const TableContext& context) {
  ScanRun scanned{.tables = {.first = static_cast<std::uint32_t>(tables_.size())}};
  for (auto number = continued.rbegin(); number != continued.rend(); ++number) {
    SearchRun& run = runs_[*number];
    run.tables.first = static_cast<std::uint32_t>(tables_.size());
    for (const std::shared_ptr<const TableFacts>& facts : runs[*number]->tables) {
      if (!has_entries(facts)) continue;
      add_table(facts, before, context);
      scanned.largest_sequence = std::max(scanned.largest_sequence, facts->largest_sequence);
    }
    run.tables.count = static_cast<std::uint32_t>(tables_.size()) - run.tables.first;
    run.bounds = {heads_[run.tables.first].smallest, heads_.back().largest};
  }
  scanned.tables.count = static_cast<std::uint32_t>(tables_.size()) - scanned.tables.first;
  scan_runs_.push_back(scanned);
}

void Version::add_table(const std::shared_ptr<const TableFacts>& facts, const Version* before,
                        const TableContext& context) {
  std::shared_ptr<Table> table = before == nullptr ? nullptr : before->table(facts->number);
  if (table == nullptr) table = std::make_shared<Table>(facts, context);
  by_number_.emplace(facts->number, static_cast<std::uint32_t>(tables_.size()));
  tables_.push_back(std::move(table));
  heads_.push_back({key_head(facts->smallest_key), key_head(facts->largest_key)});
}

Result<std::uint64_t> Version::approximate_bytes(std::string_view from, std::optional<std::string_view> to) const {
  KeyRange range{std::string(from), {}};
  if (to) range.to = std::string(*to);
  std::uint64_t total = 0;
  if (range.ends_before(range.from)) return total;
  for (const SearchRun& run : runs_) {
    for (const std::shared_ptr<Table>& table : tables_in(run.tables, range)) {
      if (range.contains(table->facts().smallest_key) && range.contains(table->facts().largest_key)) {
        total += table->facts().file_bytes + sum_of(table->facts().values_apart).bytes;
      } else {
        TAMIS_TRY(const std::uint64_t part, table->approximate_bytes(from, to));
        const double share = static_cast<double>(part) / static_cast<double>(table->facts().file_bytes);
        total +=
            part + static_cast<std::uint64_t>(share * static_cast<double>(sum_of(table->facts().values_apart).bytes));
      }
    }
  }
  return total;
}

std::shared_ptr<ValueFile> Version::value_file(std::uint64_t number) const {
  const auto at =
      std::ranges::lower_bound(value_files_, number, {}, [](const auto& file) { return file->facts().number; });
  return at == value_files_.end() || (*at)->facts().number != number ? nullptr : *at;
}

Result<ValueRead> Version::begin_value(std::string_view key, std::string_view pointer, std::string& to) const {
  ValueRead read{.key = key, .to = &to};
  TAMIS_TRY(read.pointer, decode_value_pointer(pointer, "a pointer"));
  read.file = value_file(read.pointer.file).get();  // This version keeps it.
  if (read.file != nullptr) return read;
  return Status::corruption(
      fmt::format("value file {}: value at offset {}: there is no such file", read.pointer.file, read.pointer.offset));
}

std::shared_ptr<Table> Version::table(std::uint64_t number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : tables_[found->second];
}

}  // namespace tamis
