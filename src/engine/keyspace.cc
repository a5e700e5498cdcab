#include "tamis/keyspace.h"

#include <utility>

#include "base/try.h"
#include "engine/never_throws.h"
#include "engine/open_keyspace.h"
#include "engine/snapshot_state.h"
#include "engine/store.h"
#include "entry/batch_inside.h"
#include "tamis/batch.h"

namespace tamis {
namespace {

Status no_keyspace() { return Status::closed("this Keyspace belongs to no store: it was moved from or never opened"); }

/// The store's answer, or why there is none.
template <typename Call>
auto ask(const std::shared_ptr<Store>& store, const std::shared_ptr<OpenKeyspace>& keyspace, Call call) {
  return never_throws([&] {
    using Answer = std::invoke_result_t<Call, Store&, OpenKeyspace&>;
    if (keyspace == nullptr) return Answer(no_keyspace());
    if (Status visible = check_visible(*keyspace, nullptr); !visible.ok()) return Answer(std::move(visible));
    return call(*store, *keyspace);
  });
}

/// The same where the answer may come from a keyspace that was dropped meanwhile, and that was found empty.
template <typename Call>
auto read(const std::shared_ptr<Store>& store, const std::shared_ptr<OpenKeyspace>& keyspace, const Snapshot* snapshot,
          Call call) {
  return never_throws([&] {
    using Answer = std::invoke_result_t<Call, Store&, OpenKeyspace&>;
    if (keyspace == nullptr) return Answer(no_keyspace());
    if (Status visible = check_visible(*keyspace, snapshot); !visible.ok()) return Answer(std::move(visible));
    Answer answer = call(*store, *keyspace);
    if (Status visible = check_visible(*keyspace, snapshot); !visible.ok()) return Answer(std::move(visible));
    return answer;
  });
}

}  // namespace

Keyspace::Keyspace(std::shared_ptr<Store> store, std::shared_ptr<OpenKeyspace> keyspace)
    : store_(std::move(store)), keyspace_(std::move(keyspace)) {}

std::string_view Keyspace::name() const { return keyspace_ == nullptr ? std::string_view() : keyspace_->name; }
std::uint32_t Keyspace::id() const { return keyspace_ == nullptr ? 0 : number_of(keyspace_->id()); }

Status Keyspace::put(std::string_view key, std::string_view value, const WriteOptions& options) {
  return ask(store_, keyspace_,
             [&](Store& store, OpenKeyspace& keyspace) { return store.put(keyspace.id(), key, value, options); });
}
Status Keyspace::remove(std::string_view key, const WriteOptions& options) {
  return ask(store_, keyspace_, [&](Store& store, OpenKeyspace& keyspace) {
    return store.write({keyspace.id(), EntryKind::kDelete, key, {}}, options, true);
  });
}
Status Keyspace::remove_range(std::string_view from, std::optional<std::string_view> to, const WriteOptions& options) {
  return ask(store_, keyspace_, [&](Store& store, OpenKeyspace& keyspace) {
    Batch batch;
    BatchInside::add_range_delete(batch, keyspace.id(), from, to);
    return store.write_batch(batch, options, true);
  });
}
Status Keyspace::merge(std::string_view key, std::string_view operand, const WriteOptions& options) {
  return ask(store_, keyspace_,
             [&](Store& store, OpenKeyspace& keyspace) { return store.merge(keyspace.id(), key, operand, options); });
}

Result<std::optional<std::string>> Keyspace::get(std::string_view key, const ReadOptions& options) const {
  std::string value;
  TAMIS_TRY(const bool found, get(key, &value, options));
  if (!found) return std::optional<std::string>();
  return std::optional<std::string>(std::move(value));
}
Result<bool> Keyspace::get(std::string_view key, std::string* value, const ReadOptions& options) const {
  return read(store_, keyspace_, options.snapshot,
              [&](Store& store, OpenKeyspace& keyspace) { return store.get(keyspace, key, value, options); });
}
Result<bool> Keyspace::exists(std::string_view key, const ReadOptions& options) const {
  return read(store_, keyspace_, options.snapshot,
              [&](Store& store, OpenKeyspace& keyspace) { return store.exists(keyspace, key, options); });
}
Result<std::optional<PinnedValue>> Keyspace::get_pinned(std::string_view key, const ReadOptions& options) const {
  return read(store_, keyspace_, options.snapshot,
              [&](Store& store, OpenKeyspace& keyspace) { return store.get_pinned(keyspace, key, options); });
}
std::vector<Result<std::optional<std::string>>> Keyspace::multi_get(std::span<const std::string_view> keys,
                                                                    const ReadOptions& options) const {
  const auto check = [&] { return keyspace_ == nullptr ? no_keyspace() : check_visible(*keyspace_, options.snapshot); };
  std::vector<Result<std::optional<std::string>>> answers;
  if (check().ok()) answers = never_throws([&] { return store_->multi_get(*keyspace_, keys, options); });
  if (const Status why = check(); !why.ok()) answers.assign(keys.size(), why);
  return answers;
}
Status Keyspace::multi_get(std::span<const std::string_view> keys, std::vector<std::optional<std::string>>* values,
                           const ReadOptions& options) const {
  return read(store_, keyspace_, options.snapshot,
              [&](Store& store, OpenKeyspace& keyspace) { return store.multi_get(keyspace, keys, values, options); });
}
Iterator Keyspace::scan(const ScanOptions& options, Caller caller) const {
  if (keyspace_ == nullptr) return {};
  return never_throws([&] {
    Iterator it = store_->scan(*keyspace_, options, caller);
    Status visible = check_visible(*keyspace_, options.snapshot);
    return visible.ok() ? std::move(it) : store_->failed_scan(std::move(visible));
  });
}
Result<Explanation> Keyspace::explain(std::string_view key, const ReadOptions& options) const {
  return read(store_, keyspace_, options.snapshot,
              [&](Store& store, OpenKeyspace& keyspace) { return store.explain(keyspace, key, options); });
}

Status Keyspace::compact(const Range& range, const Progress& progress) {
  return read(store_, keyspace_, nullptr,
              [&](Store& store, OpenKeyspace& keyspace) { return store.compact(keyspace, range, progress); });
}
Result<std::uint64_t> Keyspace::approximate_size(const Range& range) const {
  return read(store_, keyspace_, nullptr,
              [&](Store& store, OpenKeyspace& keyspace) { return store.approximate_size(keyspace, range); });
}

/// The batch belongs to the keyspace's store from then on.
std::uint32_t Batch::id_of(const Keyspace& keyspace) {
  belong_to(keyspace.store_ == nullptr ? 0 : keyspace.store_->number());
  if (keyspace.store_ == nullptr && status_.ok()) status_ = no_keyspace();
  return keyspace.id();
}

void Batch::merge(const Keyspace& keyspace, std::string_view key, std::string_view operand) {
  BatchInside::add_merge(*this, KeyspaceId{id_of(keyspace)}, key, operand);
}

void Batch::put(const Keyspace& keyspace, std::string_view key, std::string_view value) {
  BatchInside::add(*this, KeyspaceId{id_of(keyspace)}, EntryKind::kPut, key, value);
}

void Batch::put(const Keyspace& keyspace, std::string_view key, std::string_view value,
                std::chrono::milliseconds expires_in) {
  add_put(id_of(keyspace), key, value, expires_in);
}

void Batch::put(const Keyspace& keyspace, std::string_view key, std::string_view value,
                std::chrono::system_clock::time_point expires_at) {
  add_put(id_of(keyspace), key, value, expires_at);
}

void Batch::remove(const Keyspace& keyspace, std::string_view key) {
  BatchInside::add(*this, KeyspaceId{id_of(keyspace)}, EntryKind::kDelete, key, {});
}

void Batch::remove_range(const Keyspace& keyspace, std::string_view from, std::optional<std::string_view> to) {
  belong_to(keyspace.store_ == nullptr ? 0 : keyspace.store_->number());
  if (keyspace.store_ == nullptr && status_.ok()) status_ = no_keyspace();
  BatchInside::add_range_delete(*this, KeyspaceId{keyspace.id()}, from, to);
}

}  // namespace tamis
