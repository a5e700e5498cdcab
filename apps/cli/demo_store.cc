#include "cli/demo_store.h"

#include <fmt/core.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "cli/error.h"

namespace tamis::cli {
namespace {

constexpr std::uint64_t kBatch = 1000;
constexpr std::size_t kValueBytes = 32;

/// A 64-bit bijection with random-looking results (splitmix64's finaliser).
std::uint64_t spread(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const char* parent = std::getenv("TMPDIR");
  path_ = fmt::format("{}/tamis-demo-XXXXXX", parent != nullptr && *parent != '\0' ? parent : "/tmp");
  if (::mkdtemp(path_.data()) == nullptr) system_error(path_, "cannot create");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string demo_key(std::uint64_t number) { return fmt::format("{:016x}", spread(number)); }

void make_runs(const std::string& path, const Options& options, const std::vector<std::uint64_t>& run_keys,
               const std::function<void(std::uint64_t)>& advance) {
  DB db = need(DB::open(path, options));
  std::uint64_t next = 0;
  Batch batch;
  for (const std::uint64_t keys : run_keys) {
    for (const std::uint64_t end = next + keys; next < end;) {
      const std::uint64_t count = std::min(kBatch, end - next);
      batch.clear();
      for (const std::uint64_t last = next + count; next < last; ++next) {
        batch.put(demo_key(next), fmt::format("{:.>{}}", next, kValueBytes));
      }
      need(db.write(batch));
      advance(count);
    }
    need(db.flush());
  }
  need(db.close());
}

}  // namespace tamis::cli
