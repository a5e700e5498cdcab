#include "tamis/transaction.h"

#include <type_traits>
#include <utility>

#include "base/try.h"
#include "engine/fork_generation.h"
#include "engine/never_throws.h"
#include "engine/transaction_state.h"
#include "entry/changes.h"

namespace tamis {
namespace {

using Answers = std::vector<Result<std::optional<std::string>>>;

Status no_transaction() {
  return Status::closed("this Transaction belongs to no store: it was moved from or never begun");
}

Status check_active(const std::unique_ptr<TransactionState>& state) {
  return state != nullptr ? state->check_active() : no_transaction();
}

/// The transaction's answer in the default keyspace, or why there is none.
template <typename Call>
auto ask(const std::unique_ptr<TransactionState>& state, Call call) {
  return never_throws([&] {
    using Answer = std::invoke_result_t<Call, TransactionState&, OpenKeyspace&>;
    if (Status active = check_active(state); !active.ok()) [[unlikely]]
      return Answer(std::move(active));
    return call(*state, state->store().default_keyspace());
  });
}

/// The same in another keyspace.
template <typename Call>
auto ask(const std::unique_ptr<TransactionState>& state, const Keyspace& keyspace, Call call) {
  return never_throws([&] {
    using Answer = std::invoke_result_t<Call, TransactionState&, OpenKeyspace&>;
    if (Status active = check_active(state); !active.ok()) [[unlikely]]
      return Answer(std::move(active));
    const Result<OpenKeyspace*> found = state->find(keyspace);
    if (!found.ok()) return Answer(found.status());
    return call(*state, **found);
  });
}

Result<std::optional<std::string>> get_value(TransactionState& state, OpenKeyspace& keyspace, std::string_view key) {
  std::string value;
  TAMIS_TRY(const bool found, state.get(keyspace, key, &value));
  if (!found) return std::optional<std::string>();
  return std::optional<std::string>(std::move(value));
}

/// Of a range. A batch would keep the error.
Status check_bounds(std::string_view from, std::optional<std::string_view> to) {
  TAMIS_TRY_STATUS(check_sizes(from, {}));
  return check_sizes(to.value_or(std::string_view()), {});
}

}  // namespace

Transaction::Transaction() noexcept = default;
Transaction::Transaction(std::unique_ptr<TransactionState> state) : state_(std::move(state)) {}
Transaction::Transaction(Transaction&&) noexcept = default;
Transaction& Transaction::operator=(Transaction&& other) noexcept {
  Transaction taken(std::move(other));
  std::swap(state_, taken.state_);
  return *this;
}
Transaction::~Transaction() {
  if (state_ != nullptr && state_->is_of_another_process()) leave_to_parent(std::move(state_));
}

Result<std::optional<std::string>> Transaction::get(std::string_view key) {
  return ask(state_, [&](TransactionState& state, OpenKeyspace& in) { return get_value(state, in, key); });
}
Result<std::optional<std::string>> Transaction::get(const Keyspace& keyspace, std::string_view key) {
  return ask(state_, keyspace, [&](TransactionState& state, OpenKeyspace& in) { return get_value(state, in, key); });
}
Result<bool> Transaction::get(std::string_view key, std::string* value) {
  return ask(state_, [&](TransactionState& state, OpenKeyspace& in) { return state.get(in, key, value); });
}
Result<bool> Transaction::get(const Keyspace& keyspace, std::string_view key, std::string* value) {
  return ask(state_, keyspace, [&](TransactionState& state, OpenKeyspace& in) { return state.get(in, key, value); });
}
Result<bool> Transaction::exists(std::string_view key) {
  return ask(state_, [&](TransactionState& state, OpenKeyspace& in) { return state.exists(in, key); });
}
Result<bool> Transaction::exists(const Keyspace& keyspace, std::string_view key) {
  return ask(state_, keyspace, [&](TransactionState& state, OpenKeyspace& in) { return state.exists(in, key); });
}
Answers Transaction::multi_get(std::span<const std::string_view> keys) {
  const Result<Answers> answers = ask(
      state_, [&](TransactionState& state, OpenKeyspace& in) -> Result<Answers> { return state.multi_get(in, keys); });
  return answers.ok() ? *answers : Answers(keys.size(), answers.status());
}
Answers Transaction::multi_get(const Keyspace& keyspace, std::span<const std::string_view> keys) {
  const Result<Answers> answers =
      ask(state_, keyspace,
          [&](TransactionState& state, OpenKeyspace& in) -> Result<Answers> { return state.multi_get(in, keys); });
  return answers.ok() ? *answers : Answers(keys.size(), answers.status());
}
Iterator Transaction::scan(const ScanOptions& options, Caller caller) {
  if (state_ == nullptr) return {};
  return never_throws([&] {
    if (Status active = state_->check_active(); !active.ok()) return state_->store().failed_scan(std::move(active));
    return state_->scan(state_->store().default_keyspace(), options, caller);
  });
}
Iterator Transaction::scan(const Keyspace& keyspace, const ScanOptions& options, Caller caller) {
  if (state_ == nullptr) return {};
  return never_throws([&] {
    if (Status active = state_->check_active(); !active.ok()) return state_->store().failed_scan(std::move(active));
    const Result<OpenKeyspace*> found = state_->find(keyspace);
    if (!found.ok()) return state_->store().failed_scan(found.status());
    return state_->scan(**found, options, caller);
  });
}

Status Transaction::put(std::string_view key, std::string_view value) {
  return ask(state_, [&](TransactionState& state, OpenKeyspace&) -> Status {
    TAMIS_TRY_STATUS(check_sizes(key, value));
    return state.write([&](Batch& batch) { batch.put(key, value); });
  });
}
Status Transaction::put(const Keyspace& keyspace, std::string_view key, std::string_view value) {
  return ask(state_, keyspace, [&](TransactionState& state, OpenKeyspace&) -> Status {
    TAMIS_TRY_STATUS(check_sizes(key, value));
    return state.write([&](Batch& batch) { batch.put(keyspace, key, value); });
  });
}
Status Transaction::merge(std::string_view key, std::string_view operand) {
  return ask(state_, [&](TransactionState& state, OpenKeyspace& into) -> Status {
    TAMIS_TRY_STATUS(check_sizes(key, operand));
    TAMIS_TRY_STATUS(check_has_operator(into));
    return state.write([&](Batch& batch) { batch.merge(key, operand); });
  });
}
Status Transaction::merge(const Keyspace& keyspace, std::string_view key, std::string_view operand) {
  return ask(state_, keyspace, [&](TransactionState& state, OpenKeyspace& into) -> Status {
    TAMIS_TRY_STATUS(check_sizes(key, operand));
    TAMIS_TRY_STATUS(check_has_operator(into));
    return state.write([&](Batch& batch) { batch.merge(keyspace, key, operand); });
  });
}
Status Transaction::remove(std::string_view key) {
  return ask(state_, [&](TransactionState& state, OpenKeyspace&) -> Status {
    TAMIS_TRY_STATUS(check_sizes(key, {}));
    return state.write([&](Batch& batch) { batch.remove(key); });
  });
}
Status Transaction::remove(const Keyspace& keyspace, std::string_view key) {
  return ask(state_, keyspace, [&](TransactionState& state, OpenKeyspace&) -> Status {
    TAMIS_TRY_STATUS(check_sizes(key, {}));
    return state.write([&](Batch& batch) { batch.remove(keyspace, key); });
  });
}
Status Transaction::remove_range(std::string_view from, std::optional<std::string_view> to) {
  return ask(state_, [&](TransactionState& state, OpenKeyspace&) -> Status {
    TAMIS_TRY_STATUS(check_bounds(from, to));
    return state.write([&](Batch& batch) { batch.remove_range(from, to); });
  });
}
Status Transaction::remove_range(const Keyspace& keyspace, std::string_view from, std::optional<std::string_view> to) {
  return ask(state_, keyspace, [&](TransactionState& state, OpenKeyspace&) -> Status {
    TAMIS_TRY_STATUS(check_bounds(from, to));
    return state.write([&](Batch& batch) { batch.remove_range(keyspace, from, to); });
  });
}
Status Transaction::write(const Batch& batch) {
  return ask(state_, [&](TransactionState& state, OpenKeyspace&) { return state.write(batch); });
}

Result<Savepoint> Transaction::savepoint() {
  return ask(state_, [](TransactionState& state, OpenKeyspace&) { return Result<Savepoint>(state.savepoint()); });
}
Status Transaction::rollback_to(const Savepoint& savepoint) {
  return ask(state_, [&](TransactionState& state, OpenKeyspace&) { return state.rollback_to(savepoint); });
}
Status Transaction::rollback() {
  return ask(state_, [](TransactionState& state, OpenKeyspace&) {
    state.end();
    return Status();
  });
}
Status Transaction::commit(const WriteOptions& options) {
  return ask(state_, [&](TransactionState& state, OpenKeyspace&) { return state.commit(options); });
}
std::uint64_t Transaction::sequence() const { return state_ == nullptr ? 0 : state_->sequence(); }
bool Transaction::is_active() const { return state_ != nullptr && state_->is_active(); }

}  // namespace tamis
