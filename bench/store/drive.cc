#include "store/drive.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "store/field.h"

namespace tamis::bench {
namespace {

constexpr std::uint64_t kEverything = std::numeric_limits<std::uint64_t>::max();

/// The expected sum of random lookups.
std::uint64_t expected_sum(const Stock& stock, std::uint64_t lookups, std::uint64_t seed) {
  SplitMix64 random(seed);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < lookups; ++i) sum += fold(stock.data.value(2 * random.below(stock.count)));
  return sum;
}

void expect(std::uint64_t sum, std::uint64_t expected, const char* what) {
  if (sum != expected) stop(fmt::format("{}: values are not what was put", what));
}

template <typename Get>
Outcome look_up_present(const Stock& stock, std::uint64_t lookups, std::uint64_t seed, const Get& get) {
  const std::uint64_t expected = expected_sum(stock, lookups, seed);
  SplitMix64 random(seed);
  Tally tally;
  const double seconds = seconds_of([&] {
    for (std::uint64_t i = 0; i < lookups; ++i) get(stock.data.key(2 * random.below(stock.count)).view(), tally);
  });
  if (tally.entries != lookups) stop("a key was not found");
  expect(tally.sum, expected, "get");
  return {seconds, lookups, tally.sum};
}

template <typename Get>
Outcome look_up_absent(const Stock& stock, std::uint64_t lookups, std::uint64_t seed, const Get& get) {
  SplitMix64 random(seed);
  Tally tally;
  std::uint64_t sum = 0;
  const double seconds = seconds_of([&] {
    for (std::uint64_t i = 0; i < lookups; ++i) {
      const std::uint64_t number = 2 * random.below(stock.count) + 1;
      get(stock.data.key(number).view(), tally);
      sum += number;
    }
  });
  if (tally.entries > 0) stop("an absent key was found");
  return {seconds, lookups, sum};
}

}  // namespace

Outcome put_batches(Session& session, const Stock& stock, std::uint64_t first, std::uint64_t count, std::size_t batch,
                    bool sync) {
  std::vector<KeyText> keys(batch);
  std::vector<Entry> entries;
  entries.reserve(batch);
  const std::uint64_t end = first + count;
  const double seconds = seconds_of([&] {
    for (std::uint64_t n = first; n < end;) {
      entries.clear();
      for (; entries.size() < batch && n < end; ++n) {
        KeyText& key = keys[entries.size()] = stock.data.key(2 * n);
        entries.push_back({key.view(), stock.data.value(2 * n)});
      }
      session.put_batch(entries, sync);
    }
  });
  return {seconds, count, count};
}

Outcome put_singly(Session& session, const Stock& stock, std::uint64_t first, std::uint64_t count, bool sync) {
  const std::uint64_t end = first + count;
  const double seconds = seconds_of([&] {
    for (std::uint64_t n = first; n < end; ++n)
      session.put(stock.data.key(2 * n).view(), stock.data.value(2 * n), sync);
  });
  return {seconds, count, count};
}

Outcome get_hits(Session& session, const Stock& stock, std::uint64_t lookups, std::uint64_t seed) {
  std::string buffer;
  return look_up_present(stock, lookups, seed, [&](std::string_view key, Tally& tally) {
    if (session.get(key, buffer)) tally.add(buffer);
  });
}

Outcome get_hits_pinned(Session& session, const Stock& stock, std::uint64_t lookups, std::uint64_t seed) {
  return look_up_present(stock, lookups, seed,
                         [&](std::string_view key, Tally& tally) { session.get_pinned(key, tally); });
}

Outcome get_absent(Session& session, const Stock& stock, std::uint64_t lookups, std::uint64_t seed) {
  std::string buffer;
  return look_up_absent(stock, lookups, seed, [&](std::string_view key, Tally& tally) {
    if (session.get(key, buffer)) tally.add(buffer);
  });
}

Outcome get_absent_pinned(Session& session, const Stock& stock, std::uint64_t lookups, std::uint64_t seed) {
  return look_up_absent(stock, lookups, seed,
                        [&](std::string_view key, Tally& tally) { session.get_pinned(key, tally); });
}

Outcome multi_get_hits(Session& session, const Stock& stock, std::uint64_t lookups, std::size_t at_once,
                       std::uint64_t seed) {
  const std::uint64_t calls = lookups / at_once + 1;
  const std::uint64_t expected = expected_sum(stock, calls * at_once, seed);
  SplitMix64 random(seed);
  std::vector<KeyText> keys(at_once);
  std::vector<std::string_view> views(at_once);
  Tally tally;
  const double seconds = seconds_of([&] {
    for (std::uint64_t call = 0; call < calls; ++call) {
      for (std::size_t i = 0; i < at_once; ++i) {
        keys[i] = stock.data.key(2 * random.below(stock.count));
        views[i] = keys[i].view();
      }
      session.multi_get(views, tally);
    }
  });
  if (tally.entries != calls * at_once) stop("multi_get: a key was not found");
  expect(tally.sum, expected, "multi_get");
  return {seconds, calls * at_once, tally.sum};
}

Outcome seek(Session& session, const Stock& stock, std::uint64_t seeks, std::uint64_t entries_each,
             std::uint64_t seed) {
  SplitMix64 random(seed);
  Tally tally;
  const double seconds = seconds_of([&] {
    for (std::uint64_t i = 0; i < seeks; ++i) {
      session.scan(stock.data.key(2 * random.below(stock.count)).view(), entries_each, tally);
    }
  });
  if (tally.entries < std::min(seeks, stock.count)) stop("seek: an entry was not found");
  return {seconds, seeks, tally.sum};
}

Outcome scan_all(Session& session, const Stock& stock) {
  Tally tally;
  const double seconds = seconds_of([&] { session.scan({}, kEverything, tally); });
  if (tally.entries != stock.count) stop(fmt::format("scan: {} entries of {}", tally.entries, stock.count));
  return {seconds, tally.entries, tally.sum};
}

void check_all(Session& session, const Stock& stock) {
  Tally tally;
  tally.checks = &stock.data;
  session.scan({}, kEverything, tally);
  if (tally.entries != stock.count) stop(fmt::format("scan: {} entries of {}", tally.entries, stock.count));
}

}  // namespace tamis::bench
