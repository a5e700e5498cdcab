// A transfer between two accounts: both balances change, or neither, whatever other threads do meanwhile.
#include <tamis/db.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace {

int fail(const tamis::Status& status) {
  std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return 1;
}

// [transfer]
tamis::Status transfer(tamis::DB& db, std::string_view from, std::string_view to, int amount) {
  return db.transact([&](tamis::Transaction& tx) -> tamis::Status {  // Runs again if another write interferes.
    const auto source = tx.get(from);
    const auto target = tx.get(to);
    if (!source.ok() || !target.ok()) return source.ok() ? target.status() : source.status();
    const int left = std::stoi(source->value_or("0")) - amount;
    if (left < 0) return tamis::Status::invalid_argument("not enough money");  // Nothing is written.
    if (tamis::Status put = tx.put(from, std::to_string(left)); !put.ok()) return put;
    return tx.put(to, std::to_string(std::stoi(target->value_or("0")) + amount));
  });
}
// [/transfer]

}  // namespace

int main(int argc, char** argv) {
  tamis::Result<tamis::DB> db = tamis::DB::open(argc > 1 ? argv[1] : "bank");
  if (!db.ok()) return fail(db.status());

  const tamis::Result<bool> opened = db->put_if("alice", std::nullopt, "100");  // Only if there is no account yet.
  if (!opened.ok()) return fail(opened.status());
  if (tamis::Status done = transfer(*db, "alice", "bob", 30); !done.ok()) return fail(done);
  const tamis::Status refused = transfer(*db, "alice", "bob", 300);
  std::printf("300 more: %s\n", refused.to_text().c_str());

  tamis::Transaction tx = db->begin();
  if (const auto balance = tx.get("alice"); !balance.ok()) return fail(balance.status());
  if (tamis::Status put = tx.put("alice", "0"); !put.ok()) return fail(put);
  if (tamis::Status put = db->put("alice", "75"); !put.ok()) return fail(put);  // Another writer is faster.
  std::printf("%s\n", tx.commit().to_text().c_str());

  tamis::Iterator accounts = db->scan();
  for (const auto& [name, balance] : accounts) {
    std::printf("%.*s: %.*s\n", static_cast<int>(name.size()), name.data(), static_cast<int>(balance.size()),
                balance.data());
  }
  return accounts.status().ok() ? 0 : fail(accounts.status());
}
