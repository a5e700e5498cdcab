// Functions that begin and commit transactions of their own.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/try.h"
#include "engine/never_throws.h"
#include "engine/transaction_state.h"
#include "entry/changes.h"
#include "tamis/db.h"

namespace tamis {
namespace {

Status no_store() { return Status::closed("this handle belongs to no store: it was moved from or never opened"); }

/// After a conflict: at once, then 1 µs, 2 µs, … up to 4 ms.
void pause_after(std::uint32_t tries) {
  if (tries < 2) return;
  std::this_thread::sleep_for(std::chrono::microseconds(1U << std::min(tries - 2, 12U)));
}

/// Runs `attempt` again while it ends with a conflict.
template <typename Attempt>
auto repeat(std::uint32_t max_tries, Attempt attempt) {
  for (std::uint32_t tries = 1;; ++tries) {
    auto [status, answer] = attempt();
    if (status.code() != StatusCode::kConflict || tries >= max_tries) {
      return std::pair(std::move(status), std::move(answer));
    }
    pause_after(tries);
  }
}

/// Calls `change` if the key has the expected value, in a transaction of its own.
template <typename Change>
Result<bool> change_if(const std::shared_ptr<Store>& store, OpenKeyspace& keyspace, std::string_view key,
                       std::optional<std::string_view> expected, const WriteOptions& options, Change change) {
  const auto attempt = [&]() -> std::pair<Status, bool> {
    if (Status open = store->check_open(); !open.ok()) return {std::move(open), false};
    TransactionState transaction(store, {}, Caller::here());
    if (Status visible = check_visible(keyspace, nullptr); !visible.ok()) return {std::move(visible), false};
    std::string value;
    const Result<bool> found = transaction.get(keyspace, key, &value);
    if (!found.ok()) return {found.status(), false};
    const bool is_expected = expected ? *found && value == *expected : !*found;
    if (!is_expected) return {Status(), false};
    Status done = transaction.write(change);
    if (done.ok()) done = transaction.commit(options);
    return {std::move(done), true};
  };
  auto [status, has_changed] = repeat(TransactionOptions().max_tries, attempt);
  if (!status.ok()) return std::move(status);
  return has_changed;
}

}  // namespace

Transaction DB::begin(const TransactionOptions& options, Caller caller) {
  return never_throws([&]() -> Transaction {
    if (store_ == nullptr || store_->is_of_another_process()) return {};
    return Transaction(std::make_unique<TransactionState>(store_, options, caller));
  });
}

/// Not in never_throws: `work` is the caller's, and may throw.
Status DB::transact(const std::function<Status(Transaction&)>& work, const TransactionOptions& options, Caller caller) {
  const auto attempt = [&]() -> std::pair<Status, bool> {
    if (store_ == nullptr) return {no_store(), false};
    if (Status open = store_->check_open(); !open.ok()) return {std::move(open), false};
    Transaction transaction = begin(options, caller);
    Status done = work(transaction);
    if (done.ok() && transaction.is_active()) done = transaction.commit(options.commit);
    return {std::move(done), true};
  };
  return repeat(options.max_tries, attempt).first;
}

Result<bool> DB::put_if(std::string_view key, std::optional<std::string_view> expected, std::string_view value,
                        const WriteOptions& options) {
  if (store_ == nullptr) return no_store();
  return never_throws([&]() -> Result<bool> {
    TAMIS_TRY_STATUS(check_sizes(key, value));
    return change_if(store_, store_->default_keyspace(), key, expected, options,
                     [&](Batch& batch) { batch.put(key, value); });
  });
}
Result<bool> DB::remove_if(std::string_view key, std::string_view expected, const WriteOptions& options) {
  if (store_ == nullptr) return no_store();
  return never_throws([&]() -> Result<bool> {
    TAMIS_TRY_STATUS(check_sizes(key, {}));
    return change_if(store_, store_->default_keyspace(), key, expected, options,
                     [&](Batch& batch) { batch.remove(key); });
  });
}

Result<bool> Keyspace::put_if(std::string_view key, std::optional<std::string_view> expected, std::string_view value,
                              const WriteOptions& options) {
  if (keyspace_ == nullptr) return no_store();
  return never_throws([&]() -> Result<bool> {
    TAMIS_TRY_STATUS(check_sizes(key, value));
    return change_if(store_, *keyspace_, key, expected, options, [&](Batch& batch) { batch.put(*this, key, value); });
  });
}
Result<bool> Keyspace::remove_if(std::string_view key, std::string_view expected, const WriteOptions& options) {
  if (keyspace_ == nullptr) return no_store();
  return never_throws([&]() -> Result<bool> {
    TAMIS_TRY_STATUS(check_sizes(key, {}));
    return change_if(store_, *keyspace_, key, expected, options, [&](Batch& batch) { batch.remove(*this, key); });
  });
}

}  // namespace tamis
