// A store's reports: events as they happen, counters, the steps of one lookup, and the filter plan.
#include <tamis/db.h>

#include <atomic>
#include <cstdio>
#include <string>

namespace {

int fail(const tamis::Status& status) {
  std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return 1;
}

/// Called from the store's own threads, one at a time; it must not call the store.
class Ears : public tamis::EventListener {
 public:
  void on_event(const tamis::StoreEvent& event) override {
    if (event.kind == tamis::StoreEvent::Kind::kFlushed) ++flushes;
    if (event.kind == tamis::StoreEvent::Kind::kBackgroundError) std::fprintf(stderr, "writes have stopped\n");
  }
  std::atomic<int> flushes = 0;
};

std::string key(int number) { return "key" + std::to_string(number * 7919 % 1'000'003); }

}  // namespace

int main(int argc, char** argv) {
  Ears ears;  // Before the store, which it must outlive.
  tamis::Environment environment;
  environment.listener = &ears;
  tamis::Options options;
  options.compaction = "manual";  // So that all eight runs stay.

  tamis::Result<tamis::DB> db = tamis::DB::open(argc > 1 ? argv[1] : "numbers", options, environment);
  if (!db.ok()) return fail(db.status());
  for (int run = 0; run < 8; ++run) {
    tamis::Batch batch;
    for (int i = 0; i < 5000; ++i) batch.put(key(run * 5000 + i), "value");
    if (const tamis::Status written = db->write(batch); !written.ok()) return fail(written);
    if (const tamis::Status flushed = db->flush(); !flushed.ok()) return fail(flushed);
  }

  // Filters reject nearly all absent keys: compare `designed` and `observed` in the table.
  for (int i = 0; i < 20'000; ++i) {
    const auto found = db->get("key" + std::to_string(i) + "?");
    if (!found.ok()) return fail(found.status());
  }
  const tamis::Stats stats = db->stats();
  std::printf("%s\n", stats.to_text().c_str());

  // The same lookup as get, with every step recorded.
  const tamis::Result<tamis::Explanation> explained = db->explain(key(1));
  if (!explained.ok()) return fail(explained.status());
  std::printf("%s\n", explained->to_text().c_str());

  // What half of the filter memory would cost, before changing anything.
  const tamis::PlanReport now = db->plan();
  const tamis::PlanReport half = db->plan(now.filter_memory / 2);
  std::printf("reads wasted per absent key: %.3f with %llu KiB of filters, %.3f with half of that\n", now.wasted_reads,
              static_cast<unsigned long long>(now.filter_memory / 1024), half.wasted_reads);
  const bool is_as_told = explained->found && stats.levels.size() == 1 && half.wasted_reads > now.wasted_reads;

  // An event may arrive a moment after the call that caused it has returned; after close there are none.
  if (const tamis::Status closed = db->close(); !closed.ok()) return fail(closed);
  std::printf("%d flushes\n", ears.flushes.load());
  return is_as_told ? 0 : 1;
}
