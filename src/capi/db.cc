// Stores in C: opening, closing, reports.
#include "capi/db.h"

#include <atomic>
#include <utility>

#include "tamis/prometheus.h"
#include "text/json.h"

using namespace tamis;
using namespace tamis::capi;

namespace {

template <typename Report>
tamis_report_t* report_of(const Report& report) {
  return new tamis_report{.text = report.to_text(), .json = report.to_json()};
}

/// Gives a report to a caller who may not want it.
template <typename Report>
Status give_report(const Result<Report>& result, tamis_report_t** report) {
  if (report != nullptr) *report = result.ok() ? report_of(*result) : nullptr;
  return result.status();
}

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

Progress progress_of(tamis_progress_t progress, void* context) {
  if (progress == nullptr) return {};
  return [=](std::uint64_t done, std::uint64_t total) { return progress(context, done, total); };
}

Range range_of(const char* from, size_t from_size, const char* to, size_t to_size) {
  return {.from = bytes_of(from, from_size), .to = bytes_or_none(to, to_size)};
}

}  // namespace

tamis_code_t tamis_open(const char* path, const tamis_options_t* options, tamis_t** db, char** errptr) {
  *db = nullptr;
  return answer(errptr, [&] {
    const tamis_options defaults;
    const tamis_options& given = options != nullptr ? *options : defaults;
    Result<DB> opened = DB::open(path, given.options, {.listener = given.listener.get()});
    if (opened.ok()) {
      *db = new tamis_db{.listener = given.listener, .db = std::move(opened.value()), .number = next_number()};
    }
    return opened.status();
  });
}
tamis_code_t tamis_close(tamis_t* db, char** errptr) {
  return answer(errptr, [&] { return db->db.close(); });
}
void tamis_db_free(tamis_t* db) { delete db; }

tamis_code_t tamis_repair_store(const char* path, bool dry_run, tamis_progress_t progress, void* context,
                                tamis_report_t** report, char** errptr) {
  return answer(errptr,
                [&] { return give_report(DB::repair(path, dry_run, {}, progress_of(progress, context)), report); });
}
tamis_code_t tamis_destroy_store(const char* path, char** errptr) {
  return answer(errptr, [&] { return DB::destroy(path); });
}

tamis_code_t tamis_flush(tamis_t* db, char** errptr) {
  return answer(errptr, [&] { return db->db.flush(); });
}
tamis_code_t tamis_compact(tamis_t* db, tamis_keyspace_t* keyspace, const char* from, size_t from_size, const char* to,
                           size_t to_size, tamis_progress_t progress, void* context, char** errptr) {
  return ask(db, keyspace, errptr, [&](auto& store) {
    return store.compact(range_of(from, from_size, to, to_size), progress_of(progress, context));
  });
}
tamis_code_t tamis_wait_idle(tamis_t* db, char** errptr) {
  return answer(errptr, [&] { return db->db.wait_idle(); });
}
tamis_code_t tamis_set_option(tamis_t* db, const char* name, const char* value, char** errptr) {
  return answer(errptr, [&] { return db->db.set_option(name, value); });
}
tamis_code_t tamis_resume(tamis_t* db, char** errptr) {
  return answer(errptr, [&] { return db->db.resume(); });
}
tamis_code_t tamis_catch_up(tamis_t* db, uint64_t* sequence, char** errptr) {
  if (sequence != nullptr) *sequence = 0;
  return answer(errptr, [&] { return take(db->db.catch_up(), sequence); });
}
tamis_code_t tamis_checkpoint(tamis_t* db, const char* path, char** errptr) {
  return answer(errptr, [&] { return db->db.checkpoint(path); });
}
tamis_code_t tamis_verify(tamis_t* db, tamis_progress_t progress, void* context, bool* is_sound,
                          tamis_report_t** report, char** errptr) {
  return answer(errptr, [&] {
    const Result<VerifyReport> verified = db->db.verify(progress_of(progress, context));
    if (is_sound != nullptr) *is_sound = verified.ok() && verified->ok();
    return give_report(verified, report);
  });
}

tamis_code_t tamis_approximate_size(tamis_t* db, tamis_keyspace_t* keyspace, const char* from, size_t from_size,
                                    const char* to, size_t to_size, uint64_t* bytes, char** errptr) {
  *bytes = 0;
  return ask(db, keyspace, errptr,
             [&](auto& store) { return take(store.approximate_size(range_of(from, from_size, to, to_size)), bytes); });
}
tamis_report_t* tamis_stats(tamis_t* db) {
  return never_throws([&] {
    const Stats stats = db->db.stats();
    tamis_report_t* const report = report_of(stats);
    report->prometheus = to_prometheus(stats, db->db.keyspaces());
    return report;
  });
}
tamis_report_t* tamis_writer_stats(tamis_t* db) {
  return never_throws([&]() -> tamis_report_t* {
    const std::optional<WriterStats> writer = db->db.writer_stats();
    if (!writer) return nullptr;
    JsonObject json;
    json.add("process_id", writer->process_id).add("age_ms", writer->age.count());
    return new tamis_report{.text = writer->stats.to_text(),
                            .json = json.add_fields(writer->stats.to_json()).text(),
                            .prometheus = to_prometheus(writer->stats, db->db.keyspaces())};
  });
}
tamis_code_t tamis_explain(tamis_t* db, const tamis_read_options_t* options, tamis_keyspace_t* keyspace,
                           const char* key, size_t key_size, tamis_report_t** report, char** errptr) {
  *report = nullptr;
  return ask(db, keyspace, errptr,
             [&](auto& store) { return give_report(store.explain(bytes_of(key, key_size), given(options)), report); });
}
tamis_report_t* tamis_plan(tamis_t* db, const uint64_t* filter_memory) {
  return never_throws(
      [&] { return report_of(db->db.plan(filter_memory != nullptr ? std::optional(*filter_memory) : std::nullopt)); });
}
