// Flushes, compactions, copies, reports, repair and followers.
#include <stdio.h>
#include <string.h>

#include "check.h"

static bool stop_at_once(void* context, uint64_t done, uint64_t total) {
  (void)done, (void)total;
  ++*(int*)context;
  return false;
}

static bool go_on(void* context, uint64_t done, uint64_t total) {
  ++*(int*)context;
  return done <= total;
}

void test_upkeep(void) {
  tamis_t* db = open_store("upkeep");
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 100; ++i) {
      char key[16];
      const int size = snprintf(key, sizeof(key), "k%02d", i);
      SUCCEEDS(tamis_put(db, NULL, NULL, key, (size_t)size, S("a value"), &error));
    }
    SUCCEEDS(tamis_flush(db, &error));
  }
  uint64_t all = 0;
  uint64_t none = 1;
  SUCCEEDS(tamis_approximate_size(db, NULL, NULL, 0, NULL, 0, &all, &error));
  SUCCEEDS(tamis_approximate_size(db, NULL, S("x"), S("z"), &none, &error));
  CHECK(all > 0 && none == 0);
  int calls = 0;
  SUCCEEDS(tamis_compact(db, NULL, S("k00"), S("k99"), go_on, &calls, &error));
  CHECK(calls > 0);
  SUCCEEDS(tamis_wait_idle(db, &error));
  SUCCEEDS(tamis_set_option(db, "memory_bytes", "1GiB", &error));
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_set_option(db, "fanout", "4", &error));
  SUCCEEDS(tamis_resume(db, &error));  // Nothing has stopped.
  SUCCEEDS(tamis_checkpoint(db, path_of("copy"), &error));
  bool is_sound = false;
  calls = 0;
  SUCCEEDS(tamis_verify(db, go_on, &calls, &is_sound, NULL, &error));
  CHECK(is_sound && calls > 0);
  FAILS(TAMIS_CLOSED, tamis_verify(db, stop_at_once, &calls, &is_sound, NULL, &error));
  CHECK(!is_sound);
  SUCCEEDS(tamis_close(db, &error));
  tamis_db_free(db);

  SUCCEEDS(tamis_open(path_of("copy"), NULL, &db, &error));
  check_value(db, "k42", "a value");
  tamis_db_free(db);
}

void test_reports(void) {
  tamis_t* db = open_store("reports");
  SUCCEEDS(tamis_put(db, NULL, NULL, S("\xff"), S("value"), &error));
  SUCCEEDS(tamis_flush(db, &error));
  tamis_report_t* report = NULL;
  SUCCEEDS(tamis_explain(db, NULL, NULL, S("\xff"), &report, &error));
  HAS(tamis_report_json(report), "{\"key_hex\": \"ff\", \"found\": true, \"value\": \"value\",");
  HAS(tamis_report_text(report), "found");
  tamis_report_free(report);
  report = tamis_stats(db);
  HAS(tamis_report_json(report), "\"writes\": 1,");
  HAS(tamis_report_prometheus(report), "\ntamis_writes_total 1\n");
  HAS(tamis_report_prometheus(report), "\ntamis_keyspace_tables{keyspace=\"default\"} ");
  HAS(tamis_report_text(report), "memory");
  tamis_report_free(report);
  CHECK(tamis_writer_stats(db) == NULL);

  uint64_t memory = 0;
  report = tamis_plan(db, &memory);
  HAS(tamis_report_json(report), "\"filter_memory\": 0,");
  CHECK(tamis_report_prometheus(report) == NULL);
  tamis_report_free(report);
  report = tamis_plan(db, NULL);
  HAS(tamis_report_json(report), "\"runs\": [{\"level\": ");
  CHECK(strstr(tamis_report_json(report), "\"filter_memory\": 0,") == NULL);
  tamis_report_free(report);
  bool is_sound = false;
  SUCCEEDS(tamis_verify(db, NULL, NULL, &is_sound, &report, &error));
  CHECK(is_sound);
  HAS(tamis_report_json(report), "{\"ok\": true,");
  HAS(tamis_report_text(report), "ok: 1 table,");
  tamis_report_free(report);
  tamis_db_free(db);
}

void test_repair(void) {
  tamis_t* db = open_store("repair");
  SUCCEEDS(tamis_put(db, NULL, NULL, S("a"), S("1"), &error));
  SUCCEEDS(tamis_flush(db, &error));
  tamis_report_t* report = (tamis_report_t*)db;
  FAILS(TAMIS_BUSY, tamis_repair_store(path_of("repair"), false, NULL, NULL, &report, &error));
  CHECK(report == NULL);
  tamis_db_free(db);
  CHECK(remove(path_of("repair/CURRENT")) == 0);
  FAILS(TAMIS_CORRUPTION, tamis_open(path_of("repair"), NULL, &db, &error));
  SUCCEEDS(tamis_repair_store(path_of("repair"), true, NULL, NULL, &report, &error));
  HAS(tamis_report_json(report), "{\"dry_run\": true,");
  HAS(tamis_report_text(report), "A dry run");
  tamis_report_free(report);
  FAILS(TAMIS_CORRUPTION, tamis_open(path_of("repair"), NULL, &db, &error));
  int calls = 0;
  SUCCEEDS(tamis_repair_store(path_of("repair"), false, go_on, &calls, NULL, &error));
  CHECK(calls > 0);
  SUCCEEDS(tamis_open(path_of("repair"), NULL, &db, &error));
  check_value(db, "a", "1");
  tamis_db_free(db);
}

void test_followers(void) {
  tamis_t* db = open_store("followed");
  SUCCEEDS(tamis_put(db, NULL, NULL, S("a"), S("1"), &error));
  SUCCEEDS(tamis_sync(db, &error));
  FAILS(TAMIS_NOT_SUPPORTED, tamis_catch_up(db, NULL, &error));
  tamis_options_t* options = tamis_options_create();
  tamis_options_set_read_only(options, true);
  tamis_options_set_follows(options, true);
  tamis_t* follower = NULL;
  SUCCEEDS(tamis_open(path_of("followed"), options, &follower, &error));
  tamis_options_free(options);
  check_value(follower, "a", "1");
  SUCCEEDS(tamis_put(db, NULL, NULL, S("a"), S("2"), &error));
  SUCCEEDS(tamis_sync(db, &error));
  check_value(follower, "a", "1");
  uint64_t sequence = 0;
  SUCCEEDS(tamis_catch_up(follower, &sequence, &error));
  CHECK(sequence == 2);
  check_value(follower, "a", "2");
  FAILS(TAMIS_NOT_SUPPORTED, tamis_put(follower, NULL, NULL, S("a"), S("3"), &error));

  // The writer publishes its counters about once a second.
  tamis_report_t* report = NULL;
  while (report == NULL) report = tamis_writer_stats(follower);
  HAS(tamis_report_json(report), "{\"process_id\": ");
  HAS(tamis_report_json(report), ", \"levels\": [");
  HAS(tamis_report_prometheus(report), "\n# TYPE tamis_gets_total counter\n");
  tamis_report_free(report);
  tamis_db_free(follower);
  tamis_db_free(db);
}
