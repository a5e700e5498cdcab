#include "cli/store/top_frame.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "cli/table.h"
#include "show/human_text.h"

namespace tamis::cli {
namespace {

using show::human_bytes;
using show::human_count;
using show::human_rate;

constexpr std::size_t kBarWidth = 24;

/// What a counter of the same writer has grown by.
std::uint64_t growth(std::uint64_t before, std::uint64_t now) { return now - std::min(now, before); }

std::string duration_text(std::uint64_t ns) {
  const auto number = static_cast<double>(ns);
  if (ns < 1000) return fmt::format("{} ns", ns);
  if (ns < 1'000'000) return fmt::format("{:.3g} us", std::floor(number / 10) / 100);
  if (ns < 1'000'000'000) return fmt::format("{:.3g} ms", std::floor(number / 1e4) / 100);
  return fmt::format("{:.2f} s", number / 1e9);
}

/// Begins where the bucket before ends.
std::uint64_t begin_of(std::size_t bucket) { return bucket == 0 ? 0 : Stats::Latency::bound_ns(bucket - 1); }

/// Assumes that the calls of a bucket are spread evenly.
std::uint64_t quantile_of(const Stats::Latency& latency, double share) {
  double left = share * static_cast<double>(latency.count);
  for (std::size_t i = 0; i < latency.buckets.size(); ++i) {
    const auto count = static_cast<double>(latency.buckets[i]);
    if (count > 0 && left <= count) {
      const std::uint64_t begin = begin_of(i);
      const std::uint64_t end = std::min(Stats::Latency::bound_ns(i), std::max(latency.max_ns, begin + 1));
      return begin + static_cast<std::uint64_t>(left / count * static_cast<double>(end - begin));
    }
    left -= count;
  }
  return latency.max_ns;
}

/// The columns of rates.
class Rates {
 public:
  explicit Rates(const Interval& interval) : seconds_(interval.seconds()) {}

  [[nodiscard]] double of(std::uint64_t before, std::uint64_t now) const {
    return seconds_ > 0 ? static_cast<double>(growth(before, now)) / seconds_ : 0;
  }
  [[nodiscard]] std::string count(std::uint64_t before, std::uint64_t now) const {
    return seconds_ > 0 ? human_count(static_cast<std::uint64_t>(std::llround(of(before, now)))) : "-";
  }
  [[nodiscard]] std::string bytes(std::uint64_t before, std::uint64_t now) const {
    return seconds_ > 0 ? human_bytes(static_cast<std::uint64_t>(std::llround(of(before, now)))) + "/s" : "-";
  }

 private:
  const double seconds_;
};

std::string calls_text(const Interval& interval) {
  const Stats& before = interval.before.stats;
  const Stats& now = interval.now.stats;
  const Rates rates(interval);
  Table table(
      {{"calls", Table::Align::kLeft}, {"in all"}, {"per second"}, {"median"}, {"90 %"}, {"99 %"}, {"longest"}});
  const auto add = [&](std::string_view name, std::uint64_t count_before, std::uint64_t count_now,
                       Stats::Latency Stats::Latencies::*member) {
    Stats::Latency latency = now.latencies.*member;
    if (interval.seconds() > 0) latency = latency_between(before.latencies.*member, latency);
    const auto time = [&](std::uint64_t ns) { return latency.count == 0 ? std::string("-") : duration_text(ns); };
    table.add({std::string(name), human_count(count_now), rates.count(count_before, count_now), time(latency.p50_ns),
               time(latency.p90_ns), time(latency.p99_ns),
               count_now == 0 ? "-" : duration_text((now.latencies.*member).max_ns)});
  };
  const auto add_timed = [&](std::string_view name, Stats::Latency Stats::Latencies::*member) {
    add(name, (before.latencies.*member).count, (now.latencies.*member).count, member);
  };
  add("gets", before.gets, now.gets, &Stats::Latencies::get);
  add("puts", before.writes, now.writes, &Stats::Latencies::put);
  add_timed("scans", &Stats::Latencies::scan);
  add_timed("syncs", &Stats::Latencies::sync);
  add_timed("flushes", &Stats::Latencies::flush);
  add_timed("compactions", &Stats::Latencies::compaction);
  return table.text();
}

/// Of the interval if there was any in it, else since the opening.
std::string share_text(std::uint64_t part_before, std::uint64_t whole_before, std::uint64_t part, std::uint64_t whole) {
  std::uint64_t parts = growth(part_before, part);
  std::uint64_t all = growth(whole_before, whole);
  if (all == 0) {
    parts = part;
    all = whole;
  }
  return all == 0 ? "-" : human_rate(static_cast<double>(parts) / static_cast<double>(all));
}

std::string hits_text(const Interval& interval) {
  const Stats& a = interval.before.stats;
  const Stats& b = interval.now.stats;
  const auto data = [](const Stats& s) { return s.cache.hits - s.cache.index_hits; };
  const auto data_asked = [&](const Stats& s) { return data(s) + s.cache.misses - s.cache.index_misses; };
  const auto index_asked = [](const Stats& s) { return s.cache.index_hits + s.cache.index_misses; };
  return fmt::format("found     gets {}; in the cache data {}, indexes {}\n",
                     share_text(a.gets_found, a.gets, b.gets_found, b.gets),
                     share_text(data(a), data_asked(a), data(b), data_asked(b)),
                     share_text(a.cache.index_hits, index_asked(a), b.cache.index_hits, index_asked(b)));
}

std::string memory_text(const Stats::Memory& memory) {
  const double part = memory.budget == 0 ? 0 : static_cast<double>(memory.used) / static_cast<double>(memory.budget);
  return fmt::format("memory    {} {} of {}\n          memtables {}, blocks {}, indexes {}, filters {}\n",
                     show::bar(std::min(part, 1.0), kBarWidth), human_bytes(memory.used), human_bytes(memory.budget),
                     human_bytes(memory.memtables), human_bytes(memory.blocks), human_bytes(memory.indexes),
                     human_bytes(memory.filters));
}

std::string writes_text(const Interval& interval) {
  const Stats& before = interval.before.stats;
  const Stats& now = interval.now.stats;
  const Rates rates(interval);
  std::string text = fmt::format("written   {} by users, {} to files: amplification {:.2f}\n",
                                 rates.bytes(before.bytes_written_by_users, now.bytes_written_by_users),
                                 rates.bytes(before.bytes_written, now.bytes_written), now.write_amplification);
  text += fmt::format("backlog   {} to be compacted; {} on disk\n", human_bytes(now.compaction_backlog),
                      human_bytes(now.bytes_on_disk));
  const std::uint64_t stalled = growth(before.stalls.delayed_writes, now.stalls.delayed_writes);
  text += fmt::format("stalls    {} writes delayed, {} in all, {} at most{}\n", human_count(now.stalls.delayed_writes),
                      duration_text(1000 * now.stalls.delay_us), duration_text(1000 * now.stalls.longest_us),
                      stalled > 0 ? fmt::format("; {} now", human_count(stalled)) : "");
  if (now.stalls.delayed_writes > 0) text += fmt::format("          {}\n", now.stalls.reason);
  if (!now.background_error.empty()) text += fmt::format("ERROR     {}\n", now.background_error);
  return text;
}

std::string levels_text(const Interval& interval) {
  const Rates rates(interval);
  const std::vector<Stats::Level>& before = interval.before.stats.levels;
  Table table({{"level"}, {"runs"}, {"tables"}, {"size"}, {"entries"}, {"lookups/s"}, {"found/s"}, {"reads/s"}});
  for (const Stats::Level& level : interval.now.stats.levels) {
    const Stats::Level old = level.level < before.size() ? before[level.level] : Stats::Level();
    table.add({std::to_string(level.level), human_count(level.runs), human_count(level.tables),
               human_bytes(level.bytes), human_count(level.entries), rates.count(old.probes, level.probes),
               rates.count(old.hits, level.hits), rates.count(old.blocks_read, level.blocks_read)});
  }
  return interval.now.stats.levels.empty() ? "No tables yet.\n" : table.text();
}

}  // namespace

double Interval::seconds() const {
  if (!now.writer || before.writer != now.writer) return 0;
  return std::chrono::duration<double>(now.published - before.published).count();
}

Stats::Latency latency_between(const Stats::Latency& before, const Stats::Latency& now) {
  Stats::Latency between{.sum_ns = growth(before.sum_ns, now.sum_ns)};
  for (std::size_t i = 0; i < now.buckets.size(); ++i) {
    between.buckets[i] = growth(before.buckets[i], now.buckets[i]);
    between.count += between.buckets[i];
  }
  if (between.count == 0) return between;
  between.max_ns = now.max_ns;
  between.p50_ns = quantile_of(between, 0.5);
  between.p90_ns = quantile_of(between, 0.9);
  between.p99_ns = quantile_of(between, 0.99);
  between.p999_ns = quantile_of(between, 0.999);
  return between;
}

std::string top_frame(const std::string& directory, const Interval& interval, std::chrono::milliseconds age) {
  const Reading& now = interval.now;
  std::string text = directory + ": ";
  if (now.writer) {
    text += fmt::format("written by process {}, counters of {:.1f} s ago\n\n", *now.writer,
                        static_cast<double>(age.count()) / 1000);
  } else {
    text += "no process writes this store\n\n";
  }
  if (now.writer) {
    text += calls_text(interval) + "\n" + hits_text(interval) + memory_text(now.stats.memory) + writes_text(interval);
    text += "\n";
  }
  return text + levels_text(interval);
}

std::string cut_to(const std::string& frame, std::size_t rows, std::size_t columns) {
  std::string cut;
  std::string_view left = frame;
  for (std::size_t row = 0; row < rows && !left.empty(); ++row) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    cut += fmt::format("{}\n", line.substr(0, columns));
  }
  return cut;
}

}  // namespace tamis::cli
