// Values that expire: hidden the moment they are due, dropped by compaction.
#include <tamis/db.h>

#include <chrono>
#include <cstdio>
#include <thread>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  tamis::Result<tamis::DB> db = tamis::DB::open(argc > 1 ? argv[1] : "sessions");
  if (!db.ok()) return 1;
  tamis::Result<tamis::Keyspace> sessions = db->keyspace("sessions", {.default_expiry = 30min});
  bool ok = sessions.ok() && sessions->put("ada", "logged in").ok();  // In half an hour.
  ok = ok && sessions->put("root", "logged in", {.expires_in = tamis::kNeverExpires}).ok();

  ok = ok && db->put("token", "a7f3", {.expires_in = 2s}).ok();
  std::printf("token: %s\n", db->get("token")->value_or("expired").c_str());
  std::this_thread::sleep_for(2100ms);
  std::printf("token: %s\n", db->get("token")->value_or("expired").c_str());
  for (tamis::Iterator at = sessions->scan(); at.valid(); at.next()) {
    std::printf("%s %s\n", std::string(at.key()).c_str(), at.expires_at() ? "expires" : "stays");
  }
  return ok && db->close().ok() ? 0 : 1;
}
