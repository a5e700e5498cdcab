// Stores side by side: one run, contestants alternating, ratios of medians. `tamis-bench --help` explains.
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench_run.h"
#include "show/human_text.h"
#include "store/charts.h"
#include "store/parts.h"

namespace tamis::bench {
namespace {

bool is_row_or_group(const std::string& name) {
  return std::ranges::any_of(row_table(), [&](const RowInfo& row) { return name == row.name || name == row.group; });
}

/// Nullopt if it cannot be parsed, with the reason in `why`; for help the reason is empty.
std::optional<Settings> read_command(int count, char** arguments, std::string& why) {
  Settings settings;
  const OptionReaders readers = {
      {"--keys", into(settings.entries)},        {"--entries", into(settings.entries)},
      {"--rounds", into(settings.rounds)},       {"--json", into(settings.json)},
      {"--directory", into(settings.directory)}, {"--svg", into(settings.svg)},
      {"--from", into(settings.figures)},        {"--only", into(settings.only)},
      {"--engine", into(settings.engines)},      {"--put-rate", into(settings.put_rate)},
      {"--puts", into(settings.puts)},
  };
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "--help" || word == "-h") return std::nullopt;
    if (word == "--growth") {
      settings.growth = true;
    } else if (word == "--no-progress") {
      settings.shows_progress = false;
    } else if (!word.starts_with("-")) {
      settings.only.push_back(word);
    } else if (!read_option(i++, count, arguments, readers)) {
      why = fmt::format("{}: unknown option or invalid value", word);
      return std::nullopt;
    }
  }
  for (const std::string& name : settings.only) {
    if (is_row_or_group(name)) continue;
    why = fmt::format("unknown workload '{}'; 'tamis-bench --help' lists them", name);
    return std::nullopt;
  }
  if (!settings.figures.empty() && settings.svg.empty()) {
    why = "--from: name the charts' destination with --svg";
    return std::nullopt;
  }
  return settings;
}

std::string usage_text() {
  std::string text =
      "Usage: tamis-bench [WORKLOAD...] [OPTION...]\n\n"
      "Measures stores side by side, alternating in one run: medians, spread, ratios, targets.\n\n"
      "  --only A,B       these workloads or groups; same as naming them; default: all but sustained, direct\n"
      "  --engine A,B     tamis, rocksdb, leveldb, lmdb, wiredtiger; default: all but the last;\n"
      "                   tamis:NAME=VALUE is tamis with one option changed\n"
      "  --keys N         entries in the large store (also --entries); default: 5,000,000\n"
      "  --rounds N       rounds to run; default: 5\n"
      "  --put-rate N     puts per second where all stores get the same; default: 50,000\n"
      "  --puts N         puts of sustained overwriting; default: five times the keys\n"
      "  --directory DIR  where stores are created and removed; default: the current folder\n"
      "  --json FILE      write the figures; - is standard output, without the table\n"
      "  --svg PATH       write charts: one .svg file, or a folder with one per group\n"
      "  --from FILE      draw the figures of an earlier run's --json; measure nothing\n"
      "  --no-progress    no progress line on the terminal\n"
      "  --growth         instead of the table: cost as a store and its runs grow\n\n"
      "Workloads, by group:\n";
  std::string_view group;
  for (const RowInfo& row : row_table()) {
    if (row.group != group) text += fmt::format("{}{}:\n", "  ", row.group);
    group = row.group;
    text += fmt::format("    {:24} {} ({})\n", row.name, row.title, row.unit);
  }
  return text;
}

struct Maker {
  const char* id;
  std::unique_ptr<Contestant> (*make)();
  bool is_usual;  ///< Takes part unless others are named; one slow store would double the time.
};

constexpr auto kMakers = std::to_array<Maker>({{"tamis", make_tamis, true},
                                               {"rocksdb", make_rocksdb, true},
                                               {"leveldb", make_leveldb, true},
                                               {"lmdb", make_lmdb, true},
                                               {"wiredtiger", make_wiredtiger, false}});

constexpr std::string_view kWithSetting = "tamis:";  // A name that goes on with NAME=VALUE.

Status check_engine(const std::string& id) {
  if (id.starts_with(kWithSetting)) return check_setting(id.substr(kWithSetting.size()));
  const bool is_known = std::ranges::any_of(kMakers, [&](const Maker& maker) { return maker.id == id; });
  return is_known ? Status() : Status::invalid_argument(fmt::format("unknown engine '{}'", id));
}

/// Those asked for that this build has; names the others.
std::vector<std::unique_ptr<Contestant>> contestants_for(const std::vector<std::string>& engines) {
  std::vector<std::unique_ptr<Contestant>> contestants;
  for (const Maker& maker : kMakers) {
    const bool is_named = std::ranges::find(engines, maker.id) != engines.end();
    if (engines.empty() ? !maker.is_usual : !is_named) continue;
    if (std::unique_ptr<Contestant> contestant = maker.make()) {
      contestants.push_back(std::move(contestant));
    } else {
      fmt::print(stderr, "{} is left out: this program was built without it\n", maker.id);
    }
  }
  for (const std::string& engine : engines) {
    if (engine.starts_with(kWithSetting)) contestants.push_back(make_tamis_with(engine.substr(kWithSetting.size())));
  }
  return contestants;
}

nlohmann::json about(const Settings& settings) {
  return {{"date", today()},           {"machine", machine()},          {"entries", settings.entries},
          {"rounds", settings.rounds}, {"put_rate", settings.put_rate}, {"sustained_puts", settings.sustained_puts()}};
}

/// The table and what else was asked for. The exit status of the program.
int print(const nlohmann::json& json, const std::string& table, const Settings& settings) {
  int status = 0;
  if (settings.json == "-") {
    fmt::print("{}\n", json.dump(1));
  } else {
    fmt::print("{}", table);
    status = write_json(json, settings.json);
  }
  return settings.svg.empty() ? status : std::max(status, write_charts(json, settings.svg));
}

int run_growth(Field& field, const Settings& settings) {
  field.rehearse([&] { (void)measure_growth(field); });
  nlohmann::json json = about(settings);
  const Curves curves = measure_growth(field);
  json["growth"] = curves.json;
  field.hide_progress();
  return print(json, curves.text, settings);
}

void measure_rows(Field& field) {
  for (const auto& measure :
       {measure_fills, measure_large_store, measure_runs, measure_syncs, measure_other_entries, measure_large_values,
        measure_deletes, measure_mixed, measure_larger, measure_latencies, measure_sustained}) {
    measure(field);
  }
}

int run(const Settings& settings) {
  Field field(settings, contestants_for(settings.engines));
  if (field.contestants().empty()) return 2;
  if (settings.growth) return run_growth(field, settings);
  field.rehearse([&] { measure_rows(field); });
  measure_rows(field);
  field.hide_progress();
  nlohmann::json json = about(settings);
  json.update(field.report().json());
  const std::string head = fmt::format("{} entries of 16 + 100 bytes; median of {} rounds [lowest - highest]",
                                       show::with_thousands(settings.entries), settings.rounds);
  return print(json, head + "\n" + field.report().table(), settings);
}

/// Charts of an earlier run.
int draw(const Settings& settings) {
  std::ifstream in(settings.figures);
  const nlohmann::json figures = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (!figures.is_object()) {
    fmt::print(stderr, "tamis: {}: no figures found; 'tamis-bench --json FILE' writes them\n", settings.figures);
    return 3;
  }
  return write_charts(figures, settings.svg);
}

/// Runs in a child and in a folder of its own, so that the stores go away however that ends.
int run_and_clean_up(Settings settings) {
  settings.directory = fmt::format("{}/tamis-bench-{}.tmp", settings.directory, ::getpid());
  const pid_t child = ::fork();
  if (child < 0) stop("cannot start a process");
  if (child == 0) {
    const int status = run(settings);
    std::fflush(nullptr);
    std::_Exit(status);
  }
  std::signal(SIGINT, SIG_IGN);  // It ends the child.
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::error_code ignored;
  std::filesystem::remove_all(settings.directory, ignored);
  constexpr int kKilled = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kKilled + WTERMSIG(status);
}

}  // namespace
}  // namespace tamis::bench

int main(int count, char** arguments) {
  using namespace tamis::bench;
  std::string why;
  const std::optional<Settings> settings = read_command(count, arguments, why);
  if (!settings && why.empty()) {
    fmt::print("{}", usage_text());
    return 0;
  }
  if (settings) {
    tamis::Status known;
    for (const std::string& engine : settings->engines) {
      if (known.ok()) known = check_engine(engine);
    }
    if (known.ok()) return settings->figures.empty() ? run_and_clean_up(*settings) : draw(*settings);
    why = known.message();
  }
  fmt::print(stderr, "tamis: {}\n", why);  // The command's name: it is what users call.
  return 2;
}
