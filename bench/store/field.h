// The state of a run: settings, contestants, their folder, and their figures.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "show/progress.h"
#include "store/contestant.h"
#include "store/report.h"

namespace tamis::bench {

struct Settings {
  std::uint64_t entries = 5'000'000;
  std::uint64_t rounds = 5;
  std::string directory = ".";       ///< Where the stores' folders are created.
  std::string json;                  ///< A file, or - for standard output.
  std::string svg;                   ///< A file that ends with .svg, or a folder.
  std::vector<std::string> only;     ///< Rows and groups; empty: all but sustained.
  std::vector<std::string> engines;  ///< Empty: the usual ones.
  std::string figures;               ///< JSON of an earlier run to draw; nothing is measured.
  std::uint64_t put_rate = 50'000;   ///< Per second, of the writer that is paced.
  std::uint64_t puts = 0;            ///< Of sustained overwriting; 0: five times the entries.
  bool growth = false;
  bool shows_progress = true;  ///< On a terminal.

  [[nodiscard]] std::uint64_t sustained_puts() const { return puts > 0 ? puts : 5 * entries; }
};

/// Seconds that the work takes.
template <typename Work>
double seconds_of(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Threads: one at a time.
class Field {
 public:
  Field(const Settings& settings, std::vector<std::unique_ptr<Contestant>> contestants);

  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] std::uint64_t entries() const { return settings_.entries; }
  [[nodiscard]] std::uint64_t rounds() const { return settings_.rounds; }
  /// Whether any of these rows is requested.
  [[nodiscard]] bool wants(std::initializer_list<std::string_view> rows) const;
  /// Whether any row of these groups is.
  [[nodiscard]] bool wants_groups(std::initializer_list<std::string_view> groups) const;
  /// Whether any row is whose name begins like this.
  [[nodiscard]] bool wants_rows_of(std::string_view beginning) const;
  [[nodiscard]] const std::vector<std::unique_ptr<Contestant>>& contestants() const { return contestants_; }
  Report& report() { return report_; }
  /// A figure of a row, and the sum over what was read in the round, in which all contestants must agree.
  void add(std::string_view row, const Contestant& contestant, double value, std::uint64_t round,
           std::uint64_t checksum) {
    report_.add(row, contestant.id(), value);
    report_.add_checksum(row, contestant.id(), round, checksum);
  }

  /// Calls `work` once per contestant. Long work may count as many steps and report them itself.
  void each(const std::function<void(Contestant&)>& work, std::uint64_t steps = 1);
  /// Calls `work` for every contestant in every round; each round starts with another one.
  void alternate(const std::function<void(Contestant&, std::uint64_t round)>& work) { alternate(rounds(), work); }
  void alternate(std::uint64_t rounds, const std::function<void(Contestant&, std::uint64_t round)>& work);
  /// Reports progress of `each`.
  void step(std::uint64_t steps) { progress_.advance(steps); }
  /// Determines the total for the progress: calls `run` without doing any work.
  void rehearse(const std::function<void()>& run);
  /// Clears the terminal for the results.
  void hide_progress() { progress_.hide(); }
  /// Prints a line for the user.
  void note(const std::string& text);
  /// Runs a part and notes how long it took.
  void part(const std::string& name, const std::function<void()>& work);
  /// The same if any of these rows is requested.
  void part_of(std::initializer_list<std::string_view> rows, const std::string& name,
               const std::function<void()>& work) {
    if (wants(rows)) part(name, work);
  }

  /// The contestant's folder; one is enough, since no contestant has two stores open.
  [[nodiscard]] std::string folder(const Contestant& contestant) const;
  /// The same, emptied.
  std::string fresh_folder(const Contestant& contestant) const;

 private:
  void work_on(Contestant& contestant, std::uint64_t steps, const std::function<void()>& work);

  Settings settings_;
  std::set<std::string, std::less<>> wanted_;
  std::vector<std::unique_ptr<Contestant>> contestants_;
  Report report_;
  bool is_rehearsal_ = false;
  std::uint64_t steps_done_ = 0;
  std::uint64_t steps_to_do_ = 0;  // 0 until a rehearsal.
  std::string part_;
  show::Progress progress_;
};

}  // namespace tamis::bench
