// The parts of a run. Each measures rows that share a store, and does nothing if none of them is requested.
#pragma once

#include "store/drive.h"
#include "store/field.h"

namespace tamis::bench {

constexpr std::size_t kBatch = 1000;

/// A part with fresh stores of a fifth of the entries: filled, compacted, read once; and checked after the work.
void on_compacted(Field& field, const char* part, const std::function<void(const Stock&)>& work);

/// Fills whose stores are discarded: in batches, sequential.
void measure_fills(Field& field);
/// The large store: single puts, their cost on disk, then reads, scans, cold reads, opening, memory, YCSB.
void measure_large_store(Field& field);
/// YCSB on the large store, which is open, compacted and warm; changes it.
void measure_ycsb(Field& field, const Stock& stock);
/// Processes that open the large store, which is closed and compacted.
void measure_starts(Field& field, const Stock& stock);
/// Lookups in a store of 100 unmerged sorted runs, with 34 bits of filter per key for every contestant.
void measure_runs(Field& field);
/// Fills a store that keeps its runs with this many of them, each with keys from the whole range.
void fill_runs(Contestant& contestant, Session& session, const Stock& stock, std::uint64_t runs);
/// Reads a part of it and waits for the background work that this triggers.
void warm(Contestant& contestant, Session& session, const Stock& stock);
void measure_syncs(Field& field);
/// Values of 1 and 4 KiB, and URLs as keys.
void measure_other_entries(Field& field);
/// Values of 4 KiB to 1 MiB, with a budget of 64 MiB.
void measure_large_values(Field& field);
/// A queue, and seeks across deleted keys.
void measure_deletes(Field& field);
/// Scans and gets while another thread writes.
void measure_mixed(Field& field);
/// Reads of a store that is larger than its memory.
void measure_larger(Field& field);
/// Overwriting for long: rates, disk space, bytes written.
void measure_sustained(Field& field);
/// Percentiles of gets and puts, alone and concurrent.
void measure_latencies(Field& field);

/// Max number of entries in the growing runs; fewer if the store has fewer.
constexpr std::uint64_t kMaxPiled = 5'000'000;
/// Figures of stores as they grow.
struct Curves {
  nlohmann::json json;
  std::string text;  ///< For people.
};
/// Cost per operation as stores and their runs grow.
Curves measure_growth(Field& field);

}  // namespace tamis::bench
