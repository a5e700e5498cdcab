#include "crash/store_landmarks.h"

#include <algorithm>

#include "crash/store_workload.h"

namespace tamis::test {
namespace {

constexpr std::array<std::string_view, kLandmarks> kNames = {
    "commit",          "continued commit", "copied commit",     "journal switch",  "recycled name",
    "recycled header", "recycled commit",  "flushed table",     "compacted table", "obsolete table",
    "manifest edit",   "manifest roll",    "obsolete manifest", "CURRENT",         "linked table",
    "copied table",    "copied manifest",  "copied CURRENT",    "values",          "obsolete values",
    "counters",
};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Splits "write /store/000001.journal.tmp 0+4096"; a file is written under the name it was opened by.
struct Call {
  explicit Call(std::string_view text) {
    const auto next = [&] {
      const std::size_t end = std::min(text.find(' '), text.size());
      const std::string_view word = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      return word;
    };
    verb = next();
    path = next();
    rest = next();
  }

  [[nodiscard]] bool is_on(std::string_view part) const { return has(path, part); }
  [[nodiscard]] bool is_in_copy() const { return path.starts_with(kCopy) || rest.starts_with(kCopy); }
  /// For a journal or a manifest, whose first page is its header.
  [[nodiscard]] bool writes_header() const { return verb == "write" && rest.starts_with("0+"); }
  [[nodiscard]] bool writes_record() const { return verb == "write" && !rest.starts_with("0+"); }

  std::string_view verb;
  std::string_view path;
  std::string_view rest;
};

bool makes_table(std::string_view text) {
  const Call call(text);
  return !call.is_in_copy() && call.is_on(".tms") && call.verb != "remove";
}

constexpr int kAlwaysCrashed = 2;
constexpr int kCallsThatFollow = 3;

}  // namespace

std::string_view to_string(Landmark landmark) { return kNames[static_cast<std::size_t>(landmark)]; }

bool LandmarkReader::read(std::string_view text, bool is_due) {
  const std::vector<Landmark> landmarks = landmarks_of(text);
  for (const Landmark landmark : landmarks) {
    if (crashed_[static_cast<std::size_t>(landmark)] < kAlwaysCrashed) crashes_left_ = kCallsThatFollow;
  }
  const bool is_crashed = is_due || crashes_left_ > 0;
  crashes_left_ = std::max(crashes_left_ - 1, 0);
  for (const Landmark landmark : landmarks) count(landmark, is_crashed);
  if (makes_table(text)) table_calls_.push_back(is_crashed);
  return is_crashed;
}

std::vector<Landmark> LandmarkReader::landmarks_of(std::string_view text) {
  const Call call(text);
  std::vector<Landmark> found;
  if (call.is_in_copy()) {
    if (call.verb == "link") found.push_back(Landmark::kLinkedTable);
    if (call.verb == "write" && call.is_on(".tms")) found.push_back(Landmark::kCopiedTable);
    if (call.writes_record() && call.is_on("MANIFEST")) found.push_back(Landmark::kCopiedManifest);
    if (call.verb == "rename" && call.is_on("CURRENT")) found.push_back(Landmark::kCopiedCurrent);
    return found;
  }
  if (call.verb == "rename" && call.path.ends_with(".journal")) {
    recycled_.emplace(call.rest);
    found.push_back(Landmark::kRecycledName);
  }
  if (call.verb == "rename" && call.rest.ends_with(".journal")) found.push_back(Landmark::kJournalSwitch);
  if (call.is_on(".journal") && call.writes_record()) {
    found.push_back(Landmark::kCommit);
    if (recycled_.contains(call.path)) found.push_back(Landmark::kRecycledCommit);
    if (call.path.ends_with(".journal")) found.push_back(Landmark::kContinuedCommit);
  }
  if (call.verb == "copy" && call.is_on(".journal")) found.push_back(Landmark::kCopiedCommit);
  if (call.writes_header() && recycled_.contains(call.path)) found.push_back(Landmark::kRecycledHeader);
  if (call.is_on(".tms") && call.verb == "remove") found.push_back(Landmark::kObsoleteTable);
  if (call.is_on(".values") && call.verb == "write") found.push_back(Landmark::kValues);
  if (call.is_on(".values") && call.verb == "remove") found.push_back(Landmark::kObsoleteValues);
  if (call.is_on("MANIFEST") && call.writes_record()) found.push_back(Landmark::kManifestEdit);
  if (call.is_on("MANIFEST") && call.verb == "create") {
    if (has_manifest_) found.push_back(Landmark::kManifestRoll);
    has_manifest_ = true;
  }
  if (call.is_on("MANIFEST") && call.verb == "remove") found.push_back(Landmark::kObsoleteManifest);
  if (call.is_on("CURRENT") && call.verb == "rename") found.push_back(Landmark::kCurrent);
  if (call.is_on("COUNTERS") && call.verb == "write") found.push_back(Landmark::kCounters);
  return found;
}

void LandmarkReader::count(Landmark landmark, bool is_crashed) {
  ++met_[static_cast<std::size_t>(landmark)];
  crashed_[static_cast<std::size_t>(landmark)] += is_crashed ? 1 : 0;
}

void LandmarkReader::settle(Landmark maker) {
  for (const bool is_crashed : table_calls_) count(maker, is_crashed);
  table_calls_.clear();
}

}  // namespace tamis::test
