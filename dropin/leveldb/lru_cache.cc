#include "lru_cache.h"

#include "views.h"

namespace tamis::dropin {

using leveldb::Slice;

// A program releases all handles before.
LruCache::~LruCache() { Prune(); }

LruCache::Handle* LruCache::Insert(const Slice& key, void* value, std::size_t charge,
                                   void (*deleter)(const Slice& key, void* value)) {
  auto* entry = new Entry();
  entry->key = key.ToString();
  entry->value = value;
  entry->charge = charge;
  entry->deleter = deleter;
  entry->handles = 1;
  Dead dead;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = by_key_.find(entry->key); found != by_key_.end()) leave_cache(found->second, dead);
    if (capacity_ > 0) {
      by_key_.emplace(entry->key, entry);
      entry->is_cached = true;
      charge_ += charge;
      evict(dead);
    }
  }
  destroy(dead);
  return entry;
}

LruCache::Handle* LruCache::Lookup(const Slice& key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(view_of(key));
  if (found == by_key_.end()) return nullptr;
  Entry* entry = found->second;
  if (entry->handles++ == 0) unused_.erase(entry->place);
  return entry;
}

void LruCache::Release(Handle* handle) {
  auto* entry = static_cast<Entry*>(handle);
  Dead dead;
  {
    const std::lock_guard lock(mutex_);
    if (--entry->handles > 0) return;
    if (entry->is_cached) {
      entry->place = unused_.insert(unused_.end(), entry);
      evict(dead);
    } else {
      dead.emplace_back(entry);
    }
  }
  destroy(dead);
}

void* LruCache::Value(Handle* handle) { return static_cast<Entry*>(handle)->value; }

void LruCache::Erase(const Slice& key) {
  Dead dead;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = by_key_.find(view_of(key)); found != by_key_.end()) leave_cache(found->second, dead);
  }
  destroy(dead);
}

std::uint64_t LruCache::NewId() {
  const std::lock_guard lock(mutex_);
  return ++last_id_;
}

void LruCache::Prune() {
  Dead dead;
  {
    const std::lock_guard lock(mutex_);
    while (!unused_.empty()) leave_cache(unused_.front(), dead);
  }
  destroy(dead);
}

std::size_t LruCache::TotalCharge() const {
  const std::lock_guard lock(mutex_);
  return charge_;
}

void LruCache::evict(Dead& dead) {
  while (charge_ > capacity_ && !unused_.empty()) leave_cache(unused_.front(), dead);
}

/// With handles, it dies when the last of them is released.
void LruCache::leave_cache(Entry* entry, Dead& dead) {
  by_key_.erase(entry->key);
  entry->is_cached = false;
  charge_ -= entry->charge;
  if (entry->handles > 0) return;
  unused_.erase(entry->place);
  dead.emplace_back(entry);
}

/// Without the mutex: a deleter may use the cache.
void LruCache::destroy(const Dead& dead) {
  for (const std::unique_ptr<Entry>& entry : dead) entry->deleter(slice_of(entry->key), entry->value);
}

}  // namespace tamis::dropin

namespace leveldb {

Cache::~Cache() = default;

Cache* NewLRUCache(size_t capacity) { return new tamis::dropin::LruCache(capacity); }

}  // namespace leveldb
