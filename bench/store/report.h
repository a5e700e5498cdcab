// The rows of the benchmark's table with tamis's targets (rows.cc), and the figures of a run: by row and contestant,
// compared with the targets, shown as a table or as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench_run.h"

namespace tamis::bench {

struct RowInfo {
  std::string_view name;   ///< As on the command line.
  std::string_view group;  ///< Rows of one chart; also a name on the command line.
  std::string_view title;
  std::string_view unit;
  bool more_is_better;
};

/// In table order.
std::span<const RowInfo> row_table();
bool is_row(std::string_view name);

/// A bound on tamis's median: `factor` times another median, or a number.
struct Target {
  enum class Against {
    kEngine,   ///< The same row of the contestant `reference`.
    kBest,     ///< The same row of the best rival.
    kOwnRow,   ///< tamis's own row `reference`.
    kAbsolute  ///< The factor itself.
  };
  std::string_view row;
  Against against;
  std::string_view reference;
  double factor;
};

/// A row may have several. They assume release builds of the rivals (scripts/build-rivals).
std::span<const Target> target_table();

/// A contestant in the report.
struct EngineName {
  std::string id;
  std::string name;  ///< As Contestant::name.
};

/// The result of one target.
struct Verdict {
  std::string text;  ///< "<= 0.60 x lmdb".
  double bound = 0;
  bool is_met = false;
};

/// Threads: one at a time.
class Report {
 public:
  explicit Report(std::vector<EngineName> engines) : engines_(std::move(engines)) {}

  void add(std::string_view row, const std::string& engine, double value);
  /// The checksum of a row's work in a round; the program stops unless all contestants agree.
  void add_checksum(std::string_view row, const std::string& engine, std::uint64_t round, std::uint64_t sum);
  /// Seconds that a part of the run took.
  void add_duration(const std::string& part, double seconds) { durations_.emplace_back(part, seconds); }

  /// Null if it was not measured.
  [[nodiscard]] const Samples* samples(std::string_view row, const std::string& engine) const;
  /// tamis's targets of a row, if what they compare with was measured.
  [[nodiscard]] std::vector<Verdict> verdicts(const RowInfo& row) const;

  [[nodiscard]] std::string table() const;
  /// Rows, durations and the names of the contestants.
  [[nodiscard]] nlohmann::json json() const;

 private:
  /// Over all rounds; empty if there is none.
  [[nodiscard]] std::string checksum_text(std::string_view row) const;
  [[nodiscard]] std::optional<double> median(std::string_view row, const std::string& engine) const;
  [[nodiscard]] std::optional<double> reference(const RowInfo& row, const Target& target) const;
  [[nodiscard]] nlohmann::json row_json(const RowInfo& row, const EngineName& engine, const Samples& samples) const;

  std::vector<EngineName> engines_;
  std::map<std::string, std::map<std::string, Samples>, std::less<>> rows_;
  std::map<std::string, std::map<std::uint64_t, std::uint64_t>, std::less<>> checksums_;  // By row and round.
  std::vector<std::pair<std::string, double>> durations_;
};

}  // namespace tamis::bench
