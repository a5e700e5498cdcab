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
#include <string>
#include <vector>

#include "bench_run.h"
#include "show/human_text.h"
#include "store/charts.h"
#include "store/command.h"
#include "store/parts.h"

namespace tamis::bench {
namespace {

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
  return {{"date", today()}, {"machine", machine()}, {"entries", settings.entries}, {"rounds", settings.rounds}};
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
  for (const auto& measure : {measure_fills, measure_large_store, measure_runs, measure_syncs, measure_other_entries,
                              measure_mixed, measure_latencies}) {
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
