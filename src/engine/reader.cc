#include "engine/reader.h"

#include <chrono>
#include <utility>

#include "engine/never_throws.h"
#include "engine/reader_lookup.h"
#include "engine/snapshot_state.h"

namespace tamis {
namespace {

/// What get does with the value.
struct CopyTo {
  static constexpr bool kReads = true;
  [[gnu::always_inline]] Status operator()(std::string_view bytes) const { return assign_bytes(*to, bytes); }
  [[nodiscard]] std::string& room() const { return *to; }

  std::string* to;
};
struct TakeNothing {
  static constexpr bool kReads = false;
  Status operator()(std::string_view /*bytes*/) const { return {}; }
};

/// For a view that the caller keeps.
auto peek_at(const Reader::KeptView& moment) {
  return [&moment] { return ViewAt<const ReadView&>{*moment.view, moment.sequence}; };
}

}  // namespace

Result<bool> Reader::get(std::string_view key, std::string* value, const ReadOptions& options) {
  NoSteps none;
  const auto peek = [&] { return view_.peek_at([&] { return sequence_for(options.snapshot); }); };
  return look_up(key, options, peek, none, CopyTo{value});
}

Result<bool> Reader::get(std::string_view key, std::string* value, const ReadOptions& options, const KeptView& moment) {
  NoSteps none;
  return look_up(key, options, peek_at(moment), none, CopyTo{value});
}

/// A value that is apart is not read.
Result<bool> Reader::exists(std::string_view key, const ReadOptions& options) {
  NoSteps none;
  const auto peek = [&] { return view_.peek_at([&] { return sequence_for(options.snapshot); }); };
  return look_up(key, options, peek, none, TakeNothing());
}

Result<bool> Reader::exists(std::string_view key, const ReadOptions& options, const KeptView& moment) {
  NoSteps none;
  return look_up(key, options, peek_at(moment), none, TakeNothing());
}

Result<Explanation> Reader::explain(std::string_view key, const ReadOptions& options, const KeptView& moment) {
  Explanation explanation;
  explanation.key = key;
  ExplainedSteps steps;
  const auto begin = std::chrono::steady_clock::now();
  std::string value;
  const Result<bool> found = look_up(key, options, peek_at(moment), steps, CopyTo{&value});
  if (!found.ok() && steps.operands.empty()) return found.status();
  const auto time = std::chrono::steady_clock::now() - begin;
  explanation.nanoseconds =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
  explanation.found = !found.ok() || *found;
  if (found.ok() && *found) explanation.value = std::move(value);
  explanation.fold_error = found.ok() ? "" : found.status().to_text();
  explanation.operands = std::move(steps.operands);
  explanation.steps = std::move(steps.steps);
  explanation.reads = steps.reads;
  explanation.metadata_reads = steps.metadata_reads;
  return explanation;
}

std::uint64_t Reader::time_for(const Snapshot* snapshot) const {
  return snapshot == nullptr ? expiry_.now() : snapshot->state()->time();
}

}  // namespace tamis
