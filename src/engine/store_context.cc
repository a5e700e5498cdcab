#include "engine/store_context.h"

#include <chrono>
#include <ctime>
#include <utility>

#include "base/random_source.h"
#include "engine/memory_shares.h"
#include "io/posix_file_system.h"

namespace tamis {
namespace {

constexpr std::uint64_t kFrozenSeconds = 1'700'000'000;

}  // namespace

StoreContext::StoreContext(std::string path, const Options& given_options, const Environment& given_environment)
    : directory(std::move(path)),
      options(given_options),
      environment(given_environment),
      has_own_clock(environment.unix_seconds || environment.random_seed),
      files(environment.files != nullptr ? *environment.files : posix_file_system()),
      random(make_random_source(environment.random_seed)),
      memtable_bytes(sealing_memory(options)) {}

std::uint64_t StoreContext::now_unix_seconds() const {
  if (environment.unix_seconds) return environment.unix_seconds();
  if (environment.random_seed) return kFrozenSeconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  return seconds > 0 ? static_cast<std::uint64_t>(seconds) : 0;  // The clock may be set to before 1970.
}

std::uint64_t StoreContext::coarse_unix_milliseconds() {
  timespec now = {};
  if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0 || now.tv_sec < 0) return 0;
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

void StoreContext::tell(StoreEvent::Kind kind, std::string_view what, const RewriteResult* result) const {
  if (environment.listener == nullptr) return;
  StoreEvent event{.kind = kind, .what = what};
  if (result != nullptr) {
    for (const auto& table : result->tables) {
      ++event.tables;
      event.entries += table->entries;
      event.bytes += table->file_bytes;
    }
  }
  MutexLock lock(listener_mutex);
  environment.listener->on_event(event);
}

Status StoreContext::check_writable() const {
  return options.read_only ? Status::not_supported(directory + ": the store was opened read-only") : Status();
}

}  // namespace tamis
