// leveldb::Cache.
#pragma once

#include <leveldb/cache.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tamis::dropin {

/// A cache of a program's own values that evicts the least recently used. A store keeps nothing here: it only takes its
/// capacity as the size of its own block cache.
///
/// Invariants: an entry lives while it is in the cache or has handles. It is in unused_ while it is in the cache and
/// has none; entries leave from there while the charge of the cache is over its capacity.
///
/// Threads: any number.
class LruCache final : public leveldb::Cache {
 public:
  explicit LruCache(std::size_t capacity) : capacity_(capacity) {}
  ~LruCache() override;

  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  Handle* Insert(const leveldb::Slice& key, void* value, std::size_t charge,
                 void (*deleter)(const leveldb::Slice& key, void* value)) override;
  Handle* Lookup(const leveldb::Slice& key) override;
  void Release(Handle* handle) override;
  void* Value(Handle* handle) override;
  void Erase(const leveldb::Slice& key) override;
  std::uint64_t NewId() override;
  void Prune() override;
  std::size_t TotalCharge() const override;

 private:
  struct Entry : Handle {
    std::string key;
    void* value = nullptr;
    std::size_t charge = 0;
    void (*deleter)(const leveldb::Slice& key, void* value) = nullptr;
    std::size_t handles = 0;
    bool is_cached = false;
    std::list<Entry*>::iterator place = {};  // In unused_, while it is cached and has no handle.
  };
  using Dead = std::list<std::unique_ptr<Entry>>;

  void leave_cache(Entry* entry, Dead& dead);
  void evict(Dead& dead);
  static void destroy(const Dead& dead);

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string_view, Entry*> by_key_;  // The keys are in the entries.
  std::list<Entry*> unused_;                             // The least recently used first.
  std::size_t charge_ = 0;                               // Of the entries in by_key_.
  std::uint64_t last_id_ = 0;
};

}  // namespace tamis::dropin
