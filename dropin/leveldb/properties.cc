#include "properties.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>

namespace tamis::dropin {
namespace {

constexpr std::size_t kLevels = 7;  // LevelDB always has seven.
constexpr double kMiB = 1024 * 1024;

struct LevelFacts {
  std::uint64_t tables = 0;
  std::uint64_t bytes = 0;
};

/// Deeper levels than LevelDB has are counted to its last.
std::array<LevelFacts, kLevels> levels_of(const Stats& stats) {
  std::array<LevelFacts, kLevels> levels;
  for (const Stats::Level& level : stats.levels) {
    LevelFacts& to = levels.at(std::min<std::size_t>(level.level, kLevels - 1));
    to.tables += level.tables;
    to.bytes += level.bytes;
  }
  return levels;
}

std::optional<std::string> tables_at_level(std::string_view number, const Stats& stats) {
  std::size_t level = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), level);
  if (error != std::errc() || end != number.data() + number.size() || level >= kLevels) return std::nullopt;
  return std::to_string(levels_of(stats).at(level).tables);
}

/// LevelDB's table. A store does not count time and bytes of compactions by level: these columns are 0, but for the
/// bytes written, which are in the first line.
std::string compactions(const Stats& stats) {
  std::string text =
      "                               Compactions\n"
      "Level  Files Size(MB) Time(sec) Read(MB) Write(MB)\n"
      "--------------------------------------------------\n";
  double written = static_cast<double>(stats.bytes_written) / kMiB;
  const std::array<LevelFacts, kLevels> levels = levels_of(stats);
  for (std::size_t level = 0; level < kLevels; ++level) {
    if (levels.at(level).tables == 0 && written == 0) continue;
    std::array<char, 128> line;
    const int bytes = std::snprintf(line.data(), line.size(), "%3zu %8llu %8.0f %9.0f %8.0f %9.0f\n", level,
                                    static_cast<unsigned long long>(levels.at(level).tables),
                                    static_cast<double>(levels.at(level).bytes) / kMiB, 0.0, 0.0, written);
    text.append(line.data(), static_cast<std::size_t>(bytes));
    written = 0;
  }
  return text;
}

/// A heading for each level, as LevelDB has; its lines of single tables are one line of their number and size.
std::string tables(const Stats& stats) {
  std::string text;
  const std::array<LevelFacts, kLevels> levels = levels_of(stats);
  for (std::size_t level = 0; level < kLevels; ++level) {
    text += "--- level " + std::to_string(level) + " ---\n";
    const LevelFacts& facts = levels.at(level);
    if (facts.tables == 0) continue;
    text += " tables: " + std::to_string(facts.tables) + ", bytes: " + std::to_string(facts.bytes) + "\n";
  }
  return text;
}

}  // namespace

std::optional<std::string> property(std::string_view name, const Stats& stats) {
  constexpr std::string_view kTablesAtLevel = "leveldb.num-files-at-level";
  if (name.starts_with(kTablesAtLevel)) return tables_at_level(name.substr(kTablesAtLevel.size()), stats);
  if (name == "leveldb.stats") return compactions(stats);
  if (name == "leveldb.sstables") return tables(stats);
  if (name == "leveldb.approximate-memory-usage") return std::to_string(stats.memory.used);
  return std::nullopt;
}

}  // namespace tamis::dropin
