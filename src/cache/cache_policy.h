// What one eviction policy must bring. A policy is one .cc file with one CachePolicy, and one line in registry.cc.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "cache/frame.h"

namespace tamis {

/// Puts the frames of one shard in an order of leaving. It neither owns frames nor counts the budget: the shard calls
/// `evict` until there is room.
///
/// Invariants:
///  1. A frame is the policy's from `add` until `evict` returns it or `remove` names it.
///  2. Nothing depends on pins: a pinned frame is evicted like any other, and lives on outside the cache.
///
/// Threads: every call is made under the shard's mutex.
class EvictionPolicy {
 public:
  EvictionPolicy() = default;
  EvictionPolicy(const EvictionPolicy&) = delete;
  EvictionPolicy& operator=(const EvictionPolicy&) = delete;
  virtual ~EvictionPolicy() = default;

  /// Comes before the first `add`, and whenever the shard's capacity changes.
  virtual void set_capacity(std::size_t bytes) = 0;
  /// What the policy needs of the capacity for memory of its own, at most; a function of the capacity.
  [[nodiscard]] virtual std::size_t reserved_bytes() const = 0;

  virtual void add(Frame& frame) = 0;
  /// A lookup found it.
  virtual void touch(Frame& frame) = 0;
  /// Chooses a frame and forgets it. Null only when there is none.
  virtual Frame* evict() = 0;
  virtual void remove(Frame& frame) = 0;
};

/// Threads: constant.
struct CachePolicy {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<EvictionPolicy> (*make)();
  /// Its `touch` is Frame::touch and nothing else, so that a hit needs no mutex.
  bool hits_only_touch = false;
};

/// All policies; the first is the default.
std::span<const CachePolicy* const> all_cache_policies();
/// Null when there is none.
const CachePolicy* find_cache_policy(std::string_view name);

extern const CachePolicy kS3FifoPolicy;
extern const CachePolicy kLruPolicy;

}  // namespace tamis
