#include "tree/shape.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_set>

#include "base/check.h"
#include "base/try.h"
#include "table/value_file_format.h"

namespace tamis {
namespace {

using Tables = std::vector<std::shared_ptr<const TableFacts>>;

/// A key in readable form, for messages.
std::string readable(std::string_view key) {
  constexpr std::size_t kLongest = 40;
  std::string text;
  for (const char byte : key.substr(0, kLongest)) {
    if (byte >= ' ' && byte <= '~' && byte != '\\') {
      text += byte;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
  }
  if (key.size() > kLongest) text += "...";
  return text;
}

std::string text_of(const TableFacts& facts) {
  const KeyEnd end = facts.end();
  const std::string_view bracket = end.kind == KeyEnd::Kind::kWith ? "]" : ")";
  return fmt::format("{}[{}..{}{}", facts.number, readable(facts.begin()), readable(end.key), bracket);
}

template <typename Count>
std::uint64_t sum(const Tables& tables, Count count) {
  std::uint64_t total = 0;
  for (const auto& table : tables) total += count(*table);
  return total;
}

/// Removes the tables; empty runs stay for the added ones.
Status remove_tables(const std::vector<std::uint64_t>& removed, Shape& shape) {
  if (removed.empty()) return {};
  std::unordered_set<std::uint64_t> left(removed.begin(), removed.end());
  if (left.size() != removed.size()) return Status::corruption("an edit removes a table twice");
  for (std::vector<Run>& level : shape.levels) {
    for (Run& run : level) {
      std::erase_if(run.tables, [&](const auto& table) { return left.erase(table->number) > 0; });
    }
  }
  if (left.empty()) return {};
  return Status::corruption(fmt::format("an edit removes table {}, which is not in the shape", *left.begin()));
}

Run& run_for(std::vector<Run>& level, std::uint64_t id) {
  const auto at = std::ranges::find_if(level, [&](const Run& run) { return run.id <= id; });
  if (at != level.end() && at->id == id) return *at;
  return *level.insert(at, Run{id, {}});
}

Status add_table(const ShapeEdit::Added& added, Shape& shape) {
  if (added.facts == nullptr) return Status::corruption("an edit adds a table without its facts");
  if (added.level >= Shape::kMaxLevels) {
    return Status::corruption(fmt::format("an edit adds table {} to level {}; there are {} levels", added.facts->number,
                                          added.level, Shape::kMaxLevels));
  }
  if (shape.levels.size() <= added.level) shape.levels.resize(added.level + 1);
  Tables& tables = run_for(shape.levels[added.level], added.run).tables;
  const auto comes_before = [&](const auto& table) { return table->begin() < added.facts->begin(); };
  tables.insert(std::partition_point(tables.begin(), tables.end(), comes_before), added.facts);
  return {};
}

Status change_value_files(const ShapeEdit& edit, Shape& shape) {
  std::vector<ValueFileFacts>& files = shape.value_files;
  for (const std::uint64_t number : edit.values_removed) {
    if (std::erase_if(files, [&](const ValueFileFacts& file) { return file.number == number; }) > 0) continue;
    return Status::corruption(fmt::format("an edit removes value file {}, which is not in the shape", number));
  }
  for (const ValueFileFacts& added : edit.values_added) {
    files.insert(std::ranges::upper_bound(files, added.number, {}, &ValueFileFacts::number), added);
  }
  return {};
}

Status check_value_file(const ValueFileUse& use) {
  if (use.facts.file_bytes < kValueFileHeaderBytes) {
    return Status::corruption(fmt::format("value file {} has {} bytes", use.facts.number, use.facts.file_bytes));
  }
  if (use.live_bytes <= use.facts.file_bytes - kValueFileHeaderBytes) return {};
  return Status::corruption(fmt::format("tables point to {} bytes of value file {}, which has {}", use.live_bytes,
                                        use.facts.number, use.facts.file_bytes));
}

/// Of the shape's value files, or none.
ValueFileUse* find_use(std::vector<ValueFileUse>& uses, std::uint64_t file) {
  const auto at = std::ranges::lower_bound(uses, file, {}, [](const ValueFileUse& use) { return use.facts.number; });
  return at == uses.end() || at->facts.number != file ? nullptr : &*at;
}

void cut_empty_ends(Shape& shape) {
  for (std::vector<Run>& level : shape.levels) {
    std::erase_if(level, [](const Run& run) { return run.tables.empty(); });
  }
  while (!shape.levels.empty() && shape.levels.back().empty()) shape.levels.pop_back();
}

Status check_run(const Run& run) {
  if (run.tables.empty()) return Status::corruption(fmt::format("run {} has no table", run.id));
  const TableFacts* before = nullptr;
  for (const auto& table : run.tables) {
    if (table->end().is_before(table->begin())) {
      return Status::corruption(fmt::format("the bounds of table {} are the wrong way round", text_of(*table)));
    }
    if (before != nullptr && !before->end().is_before(table->begin())) {
      return Status::corruption(
          fmt::format("tables {} and {} of run {} overlap", text_of(*before), text_of(*table), run.id));
    }
    before = table.get();
  }
  return {};
}

Status check_level(const std::vector<Run>& level) {
  for (std::size_t i = 0; i < level.size(); ++i) {
    if (i > 0 && level[i - 1].id <= level[i].id) {
      return Status::corruption(fmt::format("run {} stands before run {}", level[i - 1].id, level[i].id));
    }
    TAMIS_TRY_STATUS(check_run(level[i]));
  }
  return {};
}

}  // namespace

std::uint64_t Run::bytes() const {
  return sum(tables, [](const TableFacts& facts) { return facts.file_bytes; });
}
std::uint64_t Run::transients() const {
  return sum(tables, [](const TableFacts& facts) { return facts.transients(); });
}
std::uint64_t Run::keys() const {
  return sum(tables, [](const TableFacts& facts) { return facts.keys; });
}

Result<Shape> Shape::with(const ShapeEdit& edit) const {
  Shape next = *this;
  TAMIS_TRY_STATUS(remove_tables(edit.removed, next));
  for (const ShapeEdit::Added& added : edit.added) TAMIS_TRY_STATUS(add_table(added, next));
  TAMIS_TRY_STATUS(change_value_files(edit, next));
  cut_empty_ends(next);
  TAMIS_TRY_STATUS(next.check());
  return next;
}

Status Shape::check() const {
  if (levels.size() > kMaxLevels) {
    return Status::corruption(fmt::format("{} levels, at most {} allowed", levels.size(), kMaxLevels));
  }
  if (!levels.empty() && levels.back().empty()) return Status::corruption("the last level is empty");
  std::unordered_set<std::uint64_t> numbers;
  for (const std::vector<Run>& level : levels) {
    TAMIS_TRY_STATUS(check_level(level));
    for (const Run& run : level) {
      for (const auto& table : run.tables) {
        if (numbers.insert(table->number).second) continue;
        return Status::corruption(fmt::format("table {} occurs twice", table->number));
      }
    }
  }
  for (const ValueFileFacts& file : value_files) {
    if (numbers.insert(file.number).second) continue;
    return Status::corruption(fmt::format("value file {} occurs twice, or is a table's number", file.number));
  }
  return check_values();
}

/// Rule 41.
Status Shape::check_values() const {
  std::vector<ValueFileUse> uses;
  for (const ValueFileFacts& file : value_files) uses.push_back({file});
  TAMIS_TRY_STATUS(count_values(uses));
  for (const ValueFileUse& use : uses) TAMIS_TRY_STATUS(check_value_file(use));
  return {};
}

Status Shape::count_values(std::vector<ValueFileUse>& uses) const {
  for (const std::vector<Run>& level : levels) {
    for (const Run& run : level) {
      for (const auto& table : run.tables) {
        for (const ValuesOfTable& values : table->values_apart) {
          ValueFileUse* const use = find_use(uses, values.file);
          if (use == nullptr) {
            return Status::corruption(fmt::format("table {} points into value file {}, which is not in the shape",
                                                  table->number, values.file));
          }
          use->live_bytes += values.bytes;
          use->values += values.values;
        }
      }
    }
  }
  return {};
}

std::vector<ValueFileUse> Shape::value_use() const {
  std::vector<ValueFileUse> uses;
  for (const ValueFileFacts& file : value_files) uses.push_back({file});
  const Status counted = count_values(uses);
  TAMIS_CHECK(counted.ok());  // An invariant.
  return uses;
}

std::uint64_t ValueFileUse::garbage_bytes() const { return facts.file_bytes - kValueFileHeaderBytes - live_bytes; }

std::uint64_t Shape::bytes() const {
  std::uint64_t total = 0;
  for (const std::vector<Run>& level : levels) {
    for (const Run& run : level) total += run.bytes();
  }
  return total;
}

std::size_t Shape::tables() const {
  std::size_t total = 0;
  for (const std::vector<Run>& level : levels) {
    for (const Run& run : level) total += run.tables.size();
  }
  return total;
}

std::size_t Shape::runs() const {
  std::size_t total = 0;
  for (const std::vector<Run>& level : levels) total += level.size();
  return total;
}

std::uint32_t Shape::last_level() const { return levels.empty() ? 0 : static_cast<std::uint32_t>(levels.size() - 1); }

const Run* Shape::find_run(std::uint32_t level, std::uint64_t id) const {
  if (level >= levels.size()) return nullptr;
  const auto at = std::ranges::find(levels[level], id, &Run::id);
  return at == levels[level].end() ? nullptr : &*at;
}

std::optional<TablePlace> Shape::find_table(std::uint64_t number) const {
  for (std::uint32_t level = 0; level < levels.size(); ++level) {
    for (const Run& run : levels[level]) {
      for (const auto& table : run.tables) {
        if (table->number == number) return TablePlace{level, &run, &table};
      }
    }
  }
  return std::nullopt;
}

std::string Shape::to_text() const {
  std::string text;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    if (levels[level].empty()) continue;
    if (!text.empty()) text += '\n';
    text += fmt::format("L{}:", level);
    for (const Run& run : levels[level]) {
      char separator = ' ';
      for (const auto& table : run.tables) {
        text += separator + text_of(*table);
        separator = ',';
      }
    }
  }
  return text;
}

}  // namespace tamis
