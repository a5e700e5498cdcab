#include "store_options.h"

#include <leveldb/comparator.h>
#include <leveldb/env.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lru_cache.h"
#include "mem_env.h"

namespace tamis::dropin {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kDefaultCache = 8 * kMiB;      // LevelDB's, without block_cache.
constexpr std::uint64_t kDefaultMemtable = 16 * kMiB;  // Of 4, 8 and 16 MiB the fastest (0067).
constexpr std::uint64_t kLeastMemory = 32 * kMiB;
constexpr std::uint64_t kMostCache = 128 * 1024 * kMiB;
// The ranges of tamis::Options.
constexpr std::uint64_t kLeastMemtable = 64 << 10;
constexpr std::uint64_t kMostMemtable = 16 * 1024 * kMiB;
constexpr std::size_t kLeastBlock = 1 << 10;
constexpr std::size_t kMostBlock = 60 << 10;
constexpr std::size_t kMostTable = 64 * kMiB;

std::uint64_t cache_bytes(const leveldb::Options& options) {
  if (options.block_cache == nullptr) return kDefaultCache;
  const auto* cache = dynamic_cast<const LruCache*>(options.block_cache);
  return cache == nullptr ? kDefaultCache : cache->capacity();  // A cache of the program's own does not tell.
}

bool ignores_env() {
  const char* value = std::getenv("TAMIS_LEVELDB_IGNORE_ENV");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

Status check_supported(const leveldb::Options& options) {
  const std::string_view bytewise = leveldb::BytewiseComparator()->Name();
  if (options.comparator == nullptr || options.comparator->Name() != bytewise) {
    const std::string name = options.comparator == nullptr ? "null" : options.comparator->Name();
    return Status::not_supported("comparator " + name + ": tamis orders keys by their bytes; only " +
                                 std::string(bytewise) + " can be used");
  }
  const bool is_usable = options.env == nullptr || options.env == leveldb::Env::Default() ||
                         dynamic_cast<const MemoryEnv*>(options.env) != nullptr;
  if (is_usable || ignores_env()) return {};
  return Status::not_supported(
      "the program has an Env of its own, which tamis would not use: not for its files, threads or clock; with "
      "TAMIS_LEVELDB_IGNORE_ENV=1 in the environment it goes on without");
}

/// LevelDB's memory is two write buffers, the block cache, and filters and indexes, which it does not limit. Ours is
/// all of memory_bytes: half of it serves the memtables and what goes with them, half blocks, filters and indexes.
/// LevelDB's default sizes of write buffers and tables suit its own tree; only others are somebody's choice.
Options store_options(const leveldb::Options& options) {
  const leveldb::Options defaults;
  Options store;
  store.create_if_missing = options.create_if_missing;
  store.error_if_exists = options.error_if_exists;
  store.memtable_bytes = kDefaultMemtable;
  if (options.write_buffer_size != defaults.write_buffer_size) {
    store.memtable_bytes = std::clamp<std::uint64_t>(options.write_buffer_size, kLeastMemtable, kMostMemtable);
  }
  const std::uint64_t cache = std::min(cache_bytes(options), kMostCache);
  store.memory_bytes = std::max(kLeastMemory, 4 * store.memtable_bytes + 2 * cache);
  store.block_bytes = static_cast<std::uint32_t>(std::clamp(options.block_size, kLeastBlock, kMostBlock));
  if (options.max_file_size != defaults.max_file_size) {
    store.table_bytes = std::clamp<std::uint64_t>(options.max_file_size, kMiB, kMostTable);
  }
  store.codec = store.codec_last = options.compression == leveldb::kNoCompression ? "none" : "lz4";
  return store;
}

Result<std::string> store_folder(const leveldb::Options& options, const std::string& name) {
  if (auto* env = dynamic_cast<MemoryEnv*>(options.env)) return env->store_folder(name);
  return name;
}

}  // namespace tamis::dropin

namespace leveldb {

Options::Options() : comparator(BytewiseComparator()), env(Env::Default()) {}

}  // namespace leveldb
