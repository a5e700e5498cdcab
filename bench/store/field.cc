#include "store/field.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

namespace tamis::bench {
namespace {

std::vector<EngineName> names_of(const std::vector<std::unique_ptr<Contestant>>& contestants) {
  std::vector<EngineName> names;
  for (const auto& contestant : contestants) names.push_back({contestant->id(), contestant->name()});
  return names;
}

/// The first takes as long as all others together, the second a file system with direct I/O.
constexpr std::string_view kOnlyIfNamed[] = {"sustained", "direct"};

bool is_asked_for(const RowInfo& row, const std::vector<std::string>& only) {
  const auto is_named = [&](const std::string& name) { return name == row.name || name == row.group; };
  if (!only.empty()) return std::ranges::any_of(only, is_named);
  return std::ranges::find(kOnlyIfNamed, row.group) == std::end(kOnlyIfNamed);
}

}  // namespace

Field::Field(const Settings& settings, std::vector<std::unique_ptr<Contestant>> contestants)
    : settings_(settings),
      contestants_(std::move(contestants)),
      report_(names_of(contestants_)),
      progress_("bench", 0, settings.shows_progress) {
  progress_.call_total_a_guess();  // Steps take different times.
  for (const RowInfo& row : row_table()) {
    if (is_asked_for(row, settings.only)) wanted_.emplace(row.name);
  }
}

bool Field::wants(std::initializer_list<std::string_view> rows) const {
  return std::ranges::any_of(rows, [&](std::string_view row) { return wanted_.contains(row); });
}

bool Field::wants_groups(std::initializer_list<std::string_view> groups) const {
  return std::ranges::any_of(row_table(), [&](const RowInfo& row) {
    return wanted_.contains(row.name) && std::ranges::find(groups, row.group) != groups.end();
  });
}

bool Field::wants_rows_of(std::string_view beginning) const {
  return std::ranges::any_of(wanted_, [&](const std::string& row) { return row.starts_with(beginning); });
}

void Field::each(const std::function<void(Contestant&)>& work, std::uint64_t steps) {
  for (const auto& contestant : contestants_) work_on(*contestant, steps, [&] { work(*contestant); });
}

void Field::alternate(std::uint64_t rounds, const std::function<void(Contestant&, std::uint64_t)>& work) {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      Contestant& contestant = *contestants_[(i + round) % contestants_.size()];
      work_on(contestant, 1, [&] { work(contestant, round); });
    }
  }
}

void Field::work_on(Contestant& contestant, std::uint64_t steps, const std::function<void()>& work) {
  if (is_rehearsal_) {
    steps_to_do_ += steps;
    return;
  }
  progress_.name(fmt::format("{}, {}", part_, contestant.name()));
  work();
  steps_done_ += steps;
  progress_.set(steps_done_, steps_to_do_);
}

void Field::rehearse(const std::function<void()>& run) {
  if (!progress_.is_shown()) return;  // Nobody would see it.
  is_rehearsal_ = true;
  run();
  is_rehearsal_ = false;
  progress_.set(0, steps_to_do_);
}

void Field::note(const std::string& text) {
  progress_.hide();
  fmt::print(stderr, "{}\n", text);
}

void Field::part(const std::string& name, const std::function<void()>& work) {
  part_ = name;
  const double seconds = seconds_of(work);
  if (!is_rehearsal_) report_.add_duration(name, seconds);
}

std::string Field::folder(const Contestant& contestant) const { return settings_.directory + "/" + contestant.id(); }

std::string Field::fresh_folder(const Contestant& contestant) const {
  const std::string path = folder(contestant);
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) std::filesystem::create_directories(path, error);
  if (error) stop(fmt::format("{}: {}", path, error.message()));
  return path;
}

}  // namespace tamis::bench
