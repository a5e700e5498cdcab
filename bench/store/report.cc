#include "store/report.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/hash.h"
#include "show/human_text.h"
#include "store/contestant.h"

namespace tamis::bench {
namespace {

using show::short_number;

constexpr std::string_view kOurs = "tamis";

std::string_view name_of(const Target& target) {
  return target.against == Target::Against::kBest ? "best rival" : target.reference;
}

}  // namespace

void Report::add(std::string_view row, const std::string& engine, double value) {
  if (!is_row(row)) stop(fmt::format("row {} is not in the table", row));
  rows_[std::string(row)][engine].values.push_back(value);
}

void Report::add_checksum(std::string_view row, const std::string& engine, std::uint64_t round, std::uint64_t sum) {
  const auto [at, is_new] = checksums_[std::string(row)].emplace(round, sum);
  if (!is_new && at->second != sum) stop(fmt::format("{}: {} read something else than the others", row, engine));
}

std::string Report::checksum_text(std::string_view row) const {
  const auto sums = checksums_.find(row);
  if (sums == checksums_.end()) return {};
  std::uint64_t all = 0;
  for (const auto& [round, sum] : sums->second) all = remix(all + sum);
  return fmt::format("{:016x}", all);
}

const Samples* Report::samples(std::string_view row, const std::string& engine) const {
  const auto found = rows_.find(row);
  if (found == rows_.end()) return nullptr;
  const auto cell = found->second.find(engine);
  return cell == found->second.end() ? nullptr : &cell->second;
}

std::optional<double> Report::median(std::string_view row, const std::string& engine) const {
  const Samples* cell = samples(row, engine);
  return cell == nullptr ? std::nullopt : std::optional(cell->median());
}

std::optional<double> Report::reference(const RowInfo& row, const Target& target) const {
  switch (target.against) {
    case Target::Against::kAbsolute: return 1;
    case Target::Against::kOwnRow: return median(target.reference, std::string(kOurs));
    case Target::Against::kEngine: return median(row.name, std::string(target.reference));
    case Target::Against::kBest: break;
  }
  std::optional<double> best;
  for (const EngineName& engine : engines_) {
    const std::optional<double> value = median(row.name, engine.id);
    if (engine.id == kOurs || !value) continue;
    if (!best || (row.more_is_better ? *value > *best : *value < *best)) best = value;
  }
  return best;
}

std::vector<Verdict> Report::verdicts(const RowInfo& row) const {
  std::vector<Verdict> verdicts;
  const std::optional<double> ours = median(row.name, std::string(kOurs));
  if (!ours) return verdicts;
  for (const Target& target : target_table()) {
    if (target.row != row.name) continue;
    const std::optional<double> other = reference(row, target);
    if (!other) continue;
    const double bound = target.factor * *other;
    const char* relation = row.more_is_better ? ">=" : "<=";
    const std::string text = target.against == Target::Against::kAbsolute
                                 ? fmt::format("{} {:g}", relation, target.factor)
                                 : fmt::format("{} {:.3g} x {}", relation, target.factor, name_of(target));
    verdicts.push_back({text, bound, row.more_is_better ? *ours >= bound : *ours <= bound});
  }
  return verdicts;
}

std::string Report::table() const {
  std::size_t width = 18;
  for (const EngineName& engine : engines_) width = std::max(width, engine.name.size());
  std::string text;
  for (const RowInfo& row : row_table()) {
    if (!rows_.contains(row.name)) continue;
    text +=
        fmt::format("{} ({}, {} is better) [{}]", row.title, row.unit, row.more_is_better ? "more" : "less", row.name);
    text += '\n';
    const std::optional<double> ours = median(row.name, std::string(kOurs));
    for (const EngineName& engine : engines_) {
      const Samples* cell = samples(row.name, engine.id);
      if (cell == nullptr) continue;
      const std::string spread = fmt::format("[{} - {}]", short_number(cell->low()), short_number(cell->high()));
      text += fmt::format("  {:{}} {:>9} ", engine.name, width, short_number(cell->median()));
      text += engine.id != kOurs && ours && *ours > 0
                  ? fmt::format("{:20} {:>7.2f} x tamis", spread, cell->median() / *ours)
                  : spread;
      text += '\n';
    }
    if (const std::string sum = checksum_text(row.name); !sum.empty()) text += fmt::format("  checksum {}\n", sum);
    for (const Verdict& verdict : verdicts(row)) {
      text += fmt::format("  target {} = {}: {}\n", verdict.text, short_number(verdict.bound),
                          verdict.is_met ? "met" : "missed");
    }
  }
  for (const auto& [part, seconds] : durations_) text += fmt::format("{:18} {:8.1f} s\n", part, seconds);
  return text;
}

nlohmann::json Report::row_json(const RowInfo& row, const EngineName& engine, const Samples& cell) const {
  const std::optional<double> ours = median(row.name, std::string(kOurs));
  nlohmann::json json = {{"workload", row.name},        {"title", row.title}, {"group", row.group},
                         {"engine", engine.id},         {"unit", row.unit},   {"more_is_better", row.more_is_better},
                         {"median", cell.median()},     {"low", cell.low()},  {"high", cell.high()},
                         {"rounds", cell.values.size()}};
  json["ratio"] = ours && *ours > 0 ? nlohmann::json(cell.median() / *ours) : nlohmann::json(nullptr);
  if (engine.id != kOurs) return json;
  if (const std::string sum = checksum_text(row.name); !sum.empty()) json["checksum"] = sum;
  for (const Verdict& verdict : verdicts(row)) {
    json["targets"].push_back({{"text", verdict.text}, {"bound", verdict.bound}, {"met", verdict.is_met}});
  }
  return json;
}

nlohmann::json Report::json() const {
  nlohmann::json names = nlohmann::json::array();
  for (const EngineName& engine : engines_) names.push_back({{"engine", engine.id}, {"name", engine.name}});
  nlohmann::json rows = nlohmann::json::array();
  for (const RowInfo& row : row_table()) {
    for (const EngineName& engine : engines_) {
      if (const Samples* cell = samples(row.name, engine.id)) rows.push_back(row_json(row, engine, *cell));
    }
  }
  nlohmann::json durations = nlohmann::json::object();
  for (const auto& [part, seconds] : durations_) durations[part] = seconds;
  return {{"engines", names}, {"rows", rows}, {"seconds", durations}};
}

}  // namespace tamis::bench
