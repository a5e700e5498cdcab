#include "engine/transaction_state.h"

#include <atomic>

#include "base/try.h"
#include "engine/iterator_state.h"
#include "engine/never_throws.h"
#include "entry/batch_inside.h"
#include "entry/operand_chain.h"
#include "entry/visible.h"

namespace tamis {
namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> numbers = 0;
  return numbers.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// Counted first, so that the window records what is committed after the snapshot.
Snapshot begin_snapshot(const std::shared_ptr<Store>& store, Caller caller) {
  store->window().begin();
  return Snapshot(std::make_shared<SnapshotState>(store, caller, "transaction"));
}

}  // namespace

TransactionState::TransactionState(std::shared_ptr<Store> store, const TransactionOptions& options, Caller caller)
    : store_(std::move(store)),
      number_(next_number()),
      snapshot_(begin_snapshot(store_, caller)),
      own_(Sequence{snapshot_.sequence()}, store_->hasher()) {
  if (options.isolation == Isolation::kSerializable) reads_ = std::make_shared<ReadSet>(options.max_read_bytes);
}

TransactionState::~TransactionState() { end(); }

void TransactionState::end() {
  if (!is_active_) return;
  is_active_ = false;
  store_->window().end();
  snapshot_ = {};
  own_.truncate({});
  savepoints_.clear();
  reads_.reset();
}

Status TransactionState::check_active() const {
  if (!store_->is_open()) [[unlikely]]
    return store_->check_open();
  if (!is_active_) [[unlikely]]
    return Status::invalid_argument("the transaction has ended");
  return {};
}

Result<OpenKeyspace*> TransactionState::find(const Keyspace& keyspace) const {
  if (keyspace.state() == nullptr) {
    return Status::closed("this Keyspace belongs to no store: it was moved from or never opened");
  }
  if (keyspace.store() != store_.get()) return Status::invalid_argument("the keyspace is not of this store");
  TAMIS_TRY_STATUS(check_visible(*keyspace.state(), &snapshot_));
  return keyspace.state();
}

Result<std::optional<FoundEntry>> TransactionState::find_own(OpenKeyspace& keyspace, std::string_view key) {
  if (!own_.empty()) {
    TAMIS_TRY(const std::optional<FoundEntry> own, own_.find(keyspace.id(), key));
    if (own) return own;
  }
  if (reads_ != nullptr) reads_->add_key(keyspace.id(), key);
  return std::optional<FoundEntry>();
}

Result<bool> TransactionState::get(OpenKeyspace& keyspace, std::string_view key, std::string* value) {
  TAMIS_TRY(const std::optional<FoundEntry> own, find_own(keyspace, key));
  if (!own) return store_->get(keyspace, key, value, {.snapshot = &snapshot_});
  TAMIS_TRY(std::optional<std::string> found, own_value(keyspace, key, *own));
  if (!found) return false;
  *value = *std::move(found);
  return true;
}

Result<bool> TransactionState::exists(OpenKeyspace& keyspace, std::string_view key) {
  TAMIS_TRY(const std::optional<FoundEntry> own, find_own(keyspace, key));
  if (!own) return store_->exists(keyspace, key, {.snapshot = &snapshot_});
  TAMIS_TRY(const std::optional<std::string> found, own_value(keyspace, key, *own));
  return found.has_value();
}

/// At the time of the snapshot (rule 30).
Visible TransactionState::meaning_of(const FoundEntry& own, std::string_view& value) const {
  return visible(own, Moment{own_.last(), snapshot_.state()->time()}, value);
}

Result<std::optional<std::string>> TransactionState::own_value(OpenKeyspace& keyspace, std::string_view key,
                                                               const FoundEntry& own) {
  std::string_view bytes;
  const Visible meaning = meaning_of(own, bytes);
  if (meaning == Visible::kOperand) return fold(keyspace, key, own);
  std::optional<std::string> value;
  if (meaning == Visible::kValue) TAMIS_TRY_STATUS(assign_bytes(value.emplace(), bytes));
  return value;
}

/// Beneath its own operands is an own value, or what the store has: then the key counts as read.
Result<std::optional<std::string>> TransactionState::fold(OpenKeyspace& keyspace, std::string_view key,
                                                          FoundEntry own) {
  OperandChain chain;
  Visible meaning = Visible::kOperand;
  while (meaning == Visible::kOperand) {
    std::string_view bytes;
    meaning = meaning_of(own, bytes);
    if (meaning != Visible::kDeleted) TAMIS_TRY_STATUS(chain.add(bytes, own.sequence));
    if (meaning != Visible::kOperand) break;
    const Sequence before{number_of(own.sequence) - 1};
    TAMIS_TRY(const std::optional<FoundEntry> older, own_.find(keyspace.id(), key, before));
    if (!older) break;
    own = *older;
  }
  if (meaning == Visible::kOperand) {
    if (reads_ != nullptr) reads_->add_key(keyspace.id(), key);
    std::string beneath;
    TAMIS_TRY(const bool is_present, store_->get(keyspace, key, &beneath, {.snapshot = &snapshot_}));
    if (is_present) TAMIS_TRY_STATUS(chain.add(beneath, Sequence{snapshot_.sequence()}));
  }
  std::optional<std::string> folded;
  TAMIS_TRY_STATUS(chain.fold(keyspace.merge_operator.load(std::memory_order_acquire), folded.emplace()));
  return folded;
}

/// The keys without an own write are looked up together.
std::vector<Result<std::optional<std::string>>> TransactionState::multi_get(OpenKeyspace& keyspace,
                                                                            std::span<const std::string_view> keys) {
  std::vector<Result<std::optional<std::string>>> answers;
  std::vector<std::string_view> others;
  std::vector<std::size_t> numbers;
  answers.reserve(keys.size());
  for (const std::string_view key : keys) {
    const Result<std::optional<FoundEntry>> own = find_own(keyspace, key);
    if (!own.ok()) {
      answers.emplace_back(own.status());
      continue;
    }
    if (*own) {
      answers.push_back(own_value(keyspace, key, **own));
    } else {
      answers.emplace_back(std::optional<std::string>());
      others.push_back(key);
      numbers.push_back(answers.size() - 1);
    }
  }
  std::vector<Result<std::optional<std::string>>> found = store_->multi_get(keyspace, others, {.snapshot = &snapshot_});
  for (std::size_t i = 0; i < numbers.size(); ++i) answers[numbers[i]] = std::move(found[i]);
  return answers;
}

Iterator TransactionState::scan(OpenKeyspace& keyspace, const ScanOptions& options, Caller caller) {
  if (options.snapshot != nullptr) {
    return store_->failed_scan(Status::invalid_argument("a transaction reads as of its begin; no other snapshot"));
  }
  TransactionLayer layer{.last_own = own_.last(), .own = {}, .reads = reads_, .keyspace = keyspace.id()};
  if (!own_.empty()) {
    Result<std::shared_ptr<Memtable>> own = own_.memtable(keyspace.id());
    if (!own.ok()) return store_->failed_scan(own.status());
    layer.own = *std::move(own);
  }
  ScanOptions at_snapshot = options;
  at_snapshot.snapshot = &snapshot_;
  return store_->scan_in_transaction(keyspace, at_snapshot, caller, layer);
}

Status TransactionState::write(const Batch& batch) {
  TAMIS_TRY_STATUS(batch.status());
  TAMIS_TRY_STATUS(store_->check_owns(batch));
  return own_.write([&](Batch& own) { own.append(batch); });
}

Savepoint TransactionState::savepoint() {
  savepoints_.push_back(own_.mark());
  return {.transaction = number_, .number = savepoints_.size()};
}

Status TransactionState::rollback_to(const Savepoint& savepoint) {
  const bool is_ours = savepoint.transaction == number_ && savepoint.number != 0;
  if (!is_ours || savepoint.number > savepoints_.size()) {
    return Status::invalid_argument("the savepoint is not, or no longer, one of this transaction");
  }
  own_.truncate(savepoints_[savepoint.number - 1]);
  savepoints_.resize(savepoint.number);
  return {};
}

/// Without writes there is nothing to check: the reads are those of its begin.
Status TransactionState::commit(const WriteOptions& options) {
  Status committed;
  if (!own_.empty()) {
    if (reads_ != nullptr) reads_->prepare();
    const CommitCheck check{.snapshot = Sequence{snapshot_.sequence()}, .reads = reads_.get()};
    committed = store_->write_batch(own_.batch(), options, true, &check);
    if (committed.ok()) store_->window().count_committed();
  } else if (options.sync) {
    committed = store_->sync();
  }
  end();
  return committed;
}

}  // namespace tamis
