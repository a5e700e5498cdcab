#include "store/rows.h"

#include <algorithm>
#include <array>

namespace tamis::bench {
namespace {

constexpr auto kRows = std::to_array<RowInfo>({
    {"hit", "reads", "get, hit", "ns", false},
    {"absent", "reads", "get, absent, 1 run", "ns", false},
    {"multi_get", "reads", "multi_get of 32, per key", "ns", false},
    {"absent_100", "reads", "get, absent, 100 runs", "ns", false},
    {"hit_100", "reads", "get, hit, 100 runs", "ns", false},
    {"fill_single", "fills", "fill random, single puts", "kops/s", true},
    {"fill_batch", "fills", "fill random, batches of 1000", "kops/s", true},
    {"fill_sequential", "fills", "fill sequential, single puts; LMDB appends batches", "kops/s", true},
    {"seek_100", "scans", "seek + 100, compacted", "us", false},
    {"seek_100_filled", "scans", "seek + 100, as filled", "us", false},
    {"seek_1", "scans", "seek + 1", "us", false},
    {"scan", "scans", "full scan", "M entries/s", true},
    {"ycsb_a", "ycsb", "YCSB A, half updates", "kops/s", true},
    {"ycsb_b", "ycsb", "YCSB B, 5 % updates", "kops/s", true},
    {"ycsb_c", "ycsb", "YCSB C, reads", "kops/s", true},
    {"ycsb_d", "ycsb", "YCSB D, latest, 5 % inserts", "kops/s", true},
    {"ycsb_e", "ycsb", "YCSB E, short scans, 5 % inserts", "kops/s", true},
    {"ycsb_f", "ycsb", "YCSB F, half read-modify-write", "kops/s", true},
    {"ycsb_a_2", "ycsb", "YCSB A, 2 threads", "kops/s", true},
    {"ycsb_b_2", "ycsb", "YCSB B, 2 threads", "kops/s", true},
    {"ycsb_c_2", "ycsb", "YCSB C, 2 threads", "kops/s", true},
    {"ycsb_d_2", "ycsb", "YCSB D, 2 threads", "kops/s", true},
    {"ycsb_e_2", "ycsb", "YCSB E, 2 threads", "kops/s", true},
    {"ycsb_f_2", "ycsb", "YCSB F, 2 threads", "kops/s", true},
    {"sync_1", "sync", "fsync per put", "kops/s", true},
    {"sync_100", "sync", "fsync per 100 puts", "kops/s", true},
    {"cold_hit", "cost", "storage reads per hit", "reads", false},
    {"cold_absent", "cost", "storage reads per absent key", "reads", false},
    {"write_amplification", "cost", "write amplification, single puts, settled", "x", false},
    {"own_write_amplification", "cost", "the same by the store's own counters", "x", false},
    {"disk", "cost", "disk size, fill random, settled", "MB", false},
    {"recycled", "cost", "recycled journals, not in the disk size", "MB", false},
    {"open", "cost", "open", "ms", false},
    {"resident", "cost", "anonymous memory with a budget of 256 MiB", "MiB", false},
    {"fill_1k", "entries", "fill random, values of 1 KiB", "MB/s", true},
    {"fill_4k", "entries", "fill random, values of 4 KiB", "MB/s", true},
    {"hit_1k", "entries", "get, hit, values of 1 KiB", "ns", false},
    {"hit_4k", "entries", "get, hit, values of 4 KiB", "ns", false},
    {"fill_urls", "entries", "fill random, URLs of 86 bytes", "kops/s", true},
    {"hit_urls", "entries", "get, hit, URLs", "ns", false},
    {"absent_urls", "entries", "get, absent, URLs", "ns", false},
    {"seek_urls", "entries", "seek + 100, URLs", "us", false},
    {"scan_while_writing", "mixed", "full scan while another thread writes", "M entries/s", true},
    {"put_while_scanning", "mixed", "single puts while another thread scans", "kops/s", true},
    {"get_p50", "latency", "get, p50", "us", false},
    {"get_p99", "latency", "get, p99", "us", false},
    {"get_p999", "latency", "get, p99.9", "us", false},
    {"get_worst", "latency", "get, worst", "us", false},
    {"put_p50", "latency", "put at full rate, p50", "us", false},
    {"put_p99", "latency", "put at full rate, p99", "us", false},
    {"put_p999", "latency", "put at full rate, p99.9", "us", false},
    {"put_worst", "latency", "put at full rate, worst", "us", false},
    {"paced_put_p50", "latency", "put at 70 % of the sustained rate beside gets, p50", "us", false},
    {"paced_put_p99", "latency", "put at 70 %, p99", "us", false},
    {"paced_put_p999", "latency", "put at 70 %, p99.9", "us", false},
    {"paced_put_worst", "latency", "put at 70 %, worst", "us", false},
    {"paced_nothing_p999", "latency", "the same with nothing to put, a thread half busy, p99.9", "us", false},
    {"busy_get_p50", "latency", "get beside those puts, p50", "us", false},
    {"busy_get_p99", "latency", "get beside those puts, p99", "us", false},
    {"busy_get_p999", "latency", "get beside those puts, p99.9", "us", false},
    {"busy_get_worst", "latency", "get beside those puts, worst", "us", false},
});

constexpr auto kTargets = std::to_array<Target>({
    {"hit", Target::Against::kEngine, "lmdb", 0.6},
    {"hit", Target::Against::kEngine, "rocksdb", 0.3},
    {"absent", Target::Against::kEngine, "rocksdb", 0.5},
    {"multi_get", Target::Against::kOwnRow, "hit", 0.4},
    {"absent_100", Target::Against::kOwnRow, "absent", 2},
    {"hit_100", Target::Against::kOwnRow, "hit", 2},
    {"fill_single", Target::Against::kEngine, "rocksdb", 4},
    {"fill_batch", Target::Against::kEngine, "rocksdb", 4},
    {"fill_sequential", Target::Against::kEngine, "rocksdb", 3},
    {"seek_100", Target::Against::kEngine, "lmdb", 0.7},
    {"seek_100_filled", Target::Against::kOwnRow, "seek_100", 1.3},
    {"seek_1", Target::Against::kEngine, "lmdb", 0.7},
    {"scan", Target::Against::kEngine, "wiredtiger", 1.3},
    {"ycsb_a", Target::Against::kBest, "", 2},
    {"ycsb_b", Target::Against::kBest, "", 2},
    {"ycsb_c", Target::Against::kBest, "", 1.7},
    {"ycsb_c_2", Target::Against::kOwnRow, "ycsb_c", 1.8},
    {"sync_1", Target::Against::kEngine, "rocksdb", 1.1},
    {"sync_100", Target::Against::kEngine, "rocksdb", 1.1},
    {"cold_hit", Target::Against::kAbsolute, "", 1.01},
    {"cold_absent", Target::Against::kAbsolute, "", 0.005},
    {"write_amplification", Target::Against::kAbsolute, "", 3.5},
    {"own_write_amplification", Target::Against::kAbsolute, "", 3.5},
    {"disk", Target::Against::kEngine, "rocksdb", 1},
    {"open", Target::Against::kAbsolute, "", 10},
    {"resident", Target::Against::kAbsolute, "", 256 + 32},
    {"put_worst", Target::Against::kAbsolute, "", 100'000},
    {"paced_put_p999", Target::Against::kAbsolute, "", 1'000},
    {"paced_put_worst", Target::Against::kAbsolute, "", 100'000},
});

}  // namespace

std::span<const RowInfo> row_table() { return kRows; }

const RowInfo* find_row(std::string_view name) {
  const auto* const row = std::ranges::find(kRows, name, &RowInfo::name);
  return row == kRows.end() ? nullptr : row;
}

std::span<const Target> target_table() { return kTargets; }

}  // namespace tamis::bench
