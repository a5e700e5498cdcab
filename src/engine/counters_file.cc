#include "engine/counters_file.h"

#include <string>

#include "base/try.h"
#include "io/file_names.h"
#include "io/process_id.h"

namespace tamis {
namespace {

constexpr std::uint64_t kMillisecondsBetween = 1000;
/// Of a file that is being overwritten. The write copies one page, which takes about a microsecond.
constexpr int kReadAttempts = 3;

Result<PublishedCounters> read_once(const ReadableFile& file, const std::string& path) {
  CountersBytes bytes;
  TAMIS_TRY(const std::size_t there, file.read_at(0, bytes));
  return decode_counters(Bytes(bytes).first(there), path);
}

}  // namespace

CountersFile::CountersFile(const StoreContext& context)
    : context_(context),
      is_used_(!context.options.read_only &&
               (context.environment.runs_in_background || context.environment.uptime_milliseconds)),
      last_look_(context.uptime().milliseconds) {}

void CountersFile::remove_old() { (void)context_.files.remove(counters_path(context_.directory)).ok(); }

void CountersFile::publish_if_due(const std::function<Stats()>& count) {
  if (!is_used_) return;
  const std::uint64_t now = context_.uptime().milliseconds;
  if (now < last_look_.load(std::memory_order_relaxed) + kMillisecondsBetween) return;
  if (is_writing_.exchange(true, std::memory_order_acquire)) return;
  if (now >= last_look_.load(std::memory_order_relaxed) + kMillisecondsBetween) publish(count(), now);
  is_writing_.store(false, std::memory_order_release);
}

/// Memory is left out of the comparison: a part of it is shared with other stores of the process.
void CountersFile::publish(const Stats& stats, std::uint64_t now) {
  last_look_.store(now, std::memory_order_relaxed);
  PublishedCounters counters{.store_id = context_.identity.store_id, .process_id = own_process_id(), .stats = stats};
  counters.stats.memory = {};
  const CountersBytes compared = encode_counters(counters);
  if (published_ == compared) return;
  published_ = compared;  // Even if writing fails: it is tried again when they change.
  counters.stats.memory = stats.memory;
  counters.unix_milliseconds = context_.precise_unix_milliseconds();
  if (file_ == nullptr) {
    auto opened = context_.files.open_writable(counters_path(context_.directory), OpenMode::kReplace);
    if (!opened.ok()) return;
    file_ = *std::move(opened);
  }
  const CountersBytes bytes = encode_counters(counters);
  const Bytes piece = bytes;
  (void)file_->write_at(0, {&piece, 1}).ok();
}

void CountersFile::remove() {
  if (is_writing_.exchange(true, std::memory_order_acquire) || file_ == nullptr) return;
  file_.reset();
  remove_old();
}

std::optional<PublishedCounters> CountersFile::read(const StoreContext& context) {
  const std::string path = counters_path(context.directory);
  const Result<std::unique_ptr<ReadableFile>> file = context.files.open_readable(path);
  if (!file.ok()) return std::nullopt;
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    Result<PublishedCounters> counters = read_once(**file, path);
    if (!counters.ok()) continue;
    if (counters->store_id != context.identity.store_id) return std::nullopt;
    return *std::move(counters);
  }
  return std::nullopt;
}

}  // namespace tamis
