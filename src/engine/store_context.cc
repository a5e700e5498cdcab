#include "engine/store_context.h"

#include <ctime>
#include <utility>

#include "base/random_source.h"
#include "engine/memory_shares.h"
#include "io/boot_number.h"
#include "io/posix_file_system.h"

namespace tamis {
namespace {

constexpr std::uint64_t kFrozenMilliseconds = 1'700'000'000'000;

std::uint64_t milliseconds_of(clockid_t clock) {
  timespec now = {};
  if (clock_gettime(clock, &now) != 0 || now.tv_sec < 0) return 0;  // The clock may be set to before 1970.
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

}  // namespace

StoreContext::StoreContext(std::string path, const Options& given_options, const Environment& given_environment)
    : directory(std::move(path)),
      options(given_options),
      environment(given_environment),
      has_own_clock(environment.unix_milliseconds || environment.random_seed),
      files(environment.files != nullptr ? *environment.files : posix_file_system()),
      random(make_random_source(environment.random_seed)),
      memtable_bytes(sealing_memory(options)) {}

std::uint64_t StoreContext::precise_unix_milliseconds() const {
  if (environment.unix_milliseconds) return environment.unix_milliseconds();
  return environment.random_seed ? kFrozenMilliseconds : milliseconds_of(CLOCK_REALTIME);
}

std::uint64_t StoreContext::coarse_unix_milliseconds() { return milliseconds_of(CLOCK_REALTIME_COARSE); }

/// Also runs while the machine sleeps.
Uptime StoreContext::uptime() const {
  constexpr std::uint64_t kOwnBoot = 1;
  if (environment.uptime_milliseconds) return {kOwnBoot, environment.uptime_milliseconds()};
  if (environment.random_seed) return {kOwnBoot, 0};
  return {boot_number(), milliseconds_of(CLOCK_BOOTTIME)};
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
