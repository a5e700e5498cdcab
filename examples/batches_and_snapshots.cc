// Money moves between accounts: a batch is atomic, and a snapshot keeps one moment readable while the store changes.
// The sum over all accounts is the same at every moment.
#include <tamis/db.h>

#include <cstdio>
#include <string>

namespace {

int fail(const tamis::Status& status) {
  std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return 1;
}

/// All accounts as of one moment: a scan sees the store as it was when it began, or as of its snapshot.
tamis::Result<int> sum(const tamis::DB& db, const tamis::Snapshot* snapshot) {
  int total = 0;
  tamis::Iterator account = db.scan({.prefix = "account/", .snapshot = snapshot});
  for (; account.valid(); account.next()) total += std::stoi(std::string(account.value()));
  if (!account.status().ok()) return account.status();
  return total;
}

/// Reads two accounts as of one moment and writes both or neither. Two threads doing this at once could both read
/// before either writes: the store has no transactions, so the program must serialise them.
tamis::Status transfer(tamis::DB& db, std::string_view from, std::string_view to, int amount) {
  int balances[2] = {};
  const std::string_view accounts[2] = {from, to};
  const auto found = db.multi_get(accounts);
  for (std::size_t i = 0; i < 2; ++i) {
    if (!found[i].ok()) return found[i].status();
    balances[i] = std::stoi(found[i]->value_or("0"));
  }
  tamis::Batch batch;
  batch.put(from, std::to_string(balances[0] - amount));
  batch.put(to, std::to_string(balances[1] + amount));
  return db.write(batch, {.sync = true});
}

}  // namespace

int main(int argc, char** argv) {
  tamis::Result<tamis::DB> opened = tamis::DB::open(argc > 1 ? argv[1] : "bank");
  if (!opened.ok()) return fail(opened.status());
  tamis::DB& db = *opened;

  tamis::Batch first;
  first.put("account/alice", "100");
  first.put("account/bob", "0");
  if (const tamis::Status written = db.write(first); !written.ok()) return fail(written);

  tamis::Snapshot before = db.snapshot();
  if (const tamis::Status moved = transfer(db, "account/alice", "account/bob", 30); !moved.ok()) return fail(moved);

  const auto alice_now = db.get("account/alice");
  const auto alice_then = db.get("account/alice", {.snapshot = &before});
  if (!alice_now.ok()) return fail(alice_now.status());
  if (!alice_then.ok()) return fail(alice_then.status());
  std::printf("alice: %s, and %s before\n", alice_now->value_or("none").c_str(), alice_then->value_or("none").c_str());

  const tamis::Result<int> sum_now = sum(db, nullptr);
  const tamis::Result<int> sum_then = sum(db, &before);
  if (!sum_now.ok()) return fail(sum_now.status());
  if (!sum_then.ok()) return fail(sum_then.status());
  std::printf("in all: %d, and %d before\n", *sum_now, *sum_then);

  // A snapshot keeps old versions from being compacted away, so release it soon; close reports live ones.
  std::printf("close: %s\n", db.close().ok() ? "closed" : "busy, a snapshot is alive");
  before = {};
  const tamis::Status closed = db.close();
  std::printf("close: %s\n", closed.ok() ? "closed" : closed.to_text().c_str());
  return closed.ok() ? 0 : 1;
}
