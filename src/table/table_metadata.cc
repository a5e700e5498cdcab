// Loads and unloads the metadata that a table's lookups need in memory, except the index: table_index.cc.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "table/table_inside.h"
#include "table/table_sections.h"

namespace tamis {
namespace {

/// A value that is charged during its lifetime.
template <typename T>
struct Charged {
  Charge charge;
  T value;
};

template <typename T>
std::shared_ptr<const typename T::element_type> share_charged(T value, Charge charge) {
  auto charged = std::make_shared<Charged<T>>(Charged<T>{std::move(charge), std::move(value)});
  const auto* inner = charged->value.get();
  return {std::move(charged), inner};
}

}  // namespace

Result<TableProperties> Table::read_own_properties(const ReadableFile& file) const {
  const std::string name = path();
  TAMIS_TRY(TableProperties read, read_properties(file, name));
  const auto& store_id = facts_->origin ? facts_->origin->store_id : context_.identity.store_id;
  if (read.identity.store_id != store_id) {
    return Status::corruption(fmt::format("{}: at offset 0: a table of another store", name));
  }
  if (read.facts.number != facts_->written_number()) {
    return Status::corruption(
        fmt::format("{}: at offset 0: this is table {}, not {}", name, read.facts.number, facts_->written_number()));
  }
  if (!facts_->are_of(read.facts)) {
    return Status::corruption(
        fmt::format("{}: at offset {}: not what the manifest says of it", name, read.index.end()));
  }
  return read;
}

Result<const TableProperties*> Table::properties() {
  if (const TableProperties* known = inside_->properties.load(std::memory_order_acquire)) return known;
  TAMIS_TRY(const std::shared_ptr<const ReadableFile> file, open_file());
  TAMIS_TRY(TableProperties read, read_own_properties(*file));
  const bool shares_hash = read.hash_id == kKeyedXxh3 && read.identity.hash_key == context_.identity.hash_key;
  if (!shares_hash && read.filter.bytes != 0) {
    remember_filter_problem(Status::not_supported(fmt::format("{}: its filter is of another hash", path())));
  }
  shares_hash_.store(shares_hash, std::memory_order_relaxed);
  if (!shares_hash || read.filter.bytes == 0) inside_->filter_is_useless.store(true, std::memory_order_relaxed);
  // Only repair needs the list, from the file.
  std::vector<std::uint64_t>().swap(read.replaces);
  const MutexLock lock(inside_->mutex);
  if (inside_->owned_properties == nullptr) {
    inside_->owned_properties = std::make_unique<const TableProperties>(std::move(read));
    inside_->properties.store(inside_->owned_properties.get(), std::memory_order_release);
  }
  return inside_->owned_properties.get();
}

Result<std::shared_ptr<const std::vector<RangeTombstone>>> Table::range_deletes() {
  {
    const MutexLock lock(inside_->mutex);
    if (inside_->range_deletes != nullptr) return inside_->range_deletes;
  }
  TAMIS_TRY(const TableProperties* read, properties());
  TAMIS_TRY(const std::shared_ptr<const ReadableFile> file, open_file());
  TAMIS_TRY(std::vector<RangeTombstone> fragments, read_range_deletes(*file, *read, path()));
  auto shared = std::make_shared<const std::vector<RangeTombstone>>(std::move(fragments));
  const MutexLock lock(inside_->mutex);
  if (inside_->range_deletes == nullptr) inside_->range_deletes = std::move(shared);
  return inside_->range_deletes;
}

const std::vector<RangeTombstone>* Table::range_deletes_in_memory() const {
  const MutexLock lock(inside_->mutex);
  return inside_->range_deletes.get();
}

std::uint64_t Table::planned_filter_columns() const {
  const std::uint64_t all = usable_filter_columns();
  const std::uint64_t planned = inside_->columns.planned.load(std::memory_order_relaxed);
  if (planned != FilterColumns::kUnplanned || all <= 1) return std::min(planned, all);
  const double share = context_.filter_budget->share_of_all();
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(share * static_cast<double>(all)));
}

/// Instead of `before`, which may be null. Null if the budget does not allow it, or the filter cannot be read.
std::shared_ptr<const TableFilter> Table::read_columns(std::uint64_t columns, const TableFilter* before) {
  const std::uint64_t bytes_before = before == nullptr ? 0 : facts_->filter_bytes_with(before->columns());
  const std::uint64_t bytes = facts_->filter_bytes_with(columns);
  Charge more(*context_.filter_budget, bytes - bytes_before);
  if (!more.is_taken()) return nullptr;
  more.release();
  context_.filter_budget->charge(bytes_before);  // Beyond the limit until the one before is freed.
  Charge charge = Charge::charged(*context_.filter_budget, bytes);
  Result<const TableProperties*> read = properties();
  if (!read.ok() || inside_->filter_is_useless.load(std::memory_order_relaxed)) return nullptr;
  Result<std::shared_ptr<const ReadableFile>> file = open_file();
  if (!file.ok()) return nullptr;
  inside_->metadata_loads.fetch_add(1, std::memory_order_relaxed);
  TableFilter::Reading reading = TableFilter::read(**file, **read, columns, std::move(charge), before, path());
  inside_->filter_bytes_read.fetch_add(reading.bytes_read, std::memory_order_relaxed);
  const StatusCode code = reading.problem.code();
  if (code == StatusCode::kOk || code == StatusCode::kIoError || code == StatusCode::kOutOfSpace) {
    return std::move(reading.filter);  // If there is none, it may work next time.
  }
  remember_filter_problem(reading.problem);
  if (reading.filter == nullptr) inside_->filter_is_useless.store(true, std::memory_order_relaxed);
  if (reading.filter != nullptr) {
    inside_->columns.usable.store(reading.filter->columns(), std::memory_order_relaxed);
    if (before != nullptr && before->columns() == reading.filter->columns()) return nullptr;
  }
  return std::move(reading.filter);
}

/// Returns the one before, which is freed after the epoch.
std::shared_ptr<const TableFilter> Table::replace_filter(std::shared_ptr<const TableFilter> by) {
  const MutexLock lock(inside_->mutex);
  filter_.store(by.get());
  return std::exchange(inside_->owned_filter, std::move(by));
}

/// If there is one, it is planned and the budget allows.
void Table::load_filter(std::uint32_t& metadata_reads) {
  if (facts_->filter_bytes == 0) inside_->filter_is_useless.store(true, std::memory_order_relaxed);
  if (inside_->filter_is_useless.load(std::memory_order_relaxed)) return;
  const std::uint64_t columns = planned_filter_columns();
  if (columns == 0) return;
  const LoadingTurn turn(inside_->is_loading);
  if (!turn.is_mine()) return;
  if (filter_.load(std::memory_order_relaxed) != nullptr) return;
  const std::uint64_t loads = inside_->metadata_loads.load(std::memory_order_relaxed);
  std::shared_ptr<const TableFilter> filter = read_columns(columns, nullptr);
  if (inside_->metadata_loads.load(std::memory_order_relaxed) != loads) ++metadata_reads;
  if (filter != nullptr) (void)replace_filter(std::move(filter));
}

std::uint64_t Table::usable_filter_columns() const {
  if (inside_->filter_is_useless.load(std::memory_order_relaxed)) return 0;
  return std::min(facts_->filter_columns(), inside_->columns.usable.load(std::memory_order_relaxed));
}

UnloadedMetadata Table::plan_filter(std::uint64_t columns, bool loads) {
  columns = std::min(columns, usable_filter_columns());
  inside_->columns.planned.store(columns, std::memory_order_relaxed);
  const std::uint64_t held = filter_columns();
  if (columns == held) return {};
  if (columns == 0) return unload_filter();
  if (held == 0 && !loads) return {};
  const LoadingTurn turn(inside_->is_loading);
  if (!turn.is_mine()) return {};
  std::shared_ptr<const TableFilter> before;
  {
    const MutexLock lock(inside_->mutex);
    before = inside_->owned_filter;
  }
  std::shared_ptr<const TableFilter> after;
  if (before != nullptr && columns < before->columns()) {
    // Where memory is short there is no room for both, and this is what makes some.
    const std::uint64_t bytes = facts_->filter_bytes_with(columns);
    context_.filter_budget->charge(bytes);
    after = before->with_fewer(columns, Charge::charged(*context_.filter_budget, bytes));
  } else {
    after = read_columns(columns, before.get());
  }
  UnloadedMetadata unloaded;
  if (after != nullptr) unloaded.filter = replace_filter(std::move(after));
  return unloaded;
}

std::uint64_t Table::filter_columns() const {
  const MutexLock lock(inside_->mutex);
  return inside_->owned_filter == nullptr ? 0 : inside_->owned_filter->columns();
}

/// If there is one and the budget allows.
template <typename AnyFilter, typename Read>
void Table::load_scan_filter(ScanFilterHolder<AnyFilter>& holder, std::uint64_t bytes, Read read) {
  if (bytes == 0 || holder.is_useless()) return;
  const LoadingTurn turn(inside_->is_loading);
  if (!turn.is_mine() || holder.is_held()) return;
  Charge charge(*context_.filter_budget, bytes);
  if (!charge.is_taken()) return;
  Result<const TableProperties*> of_table = properties();
  if (!of_table.ok()) return;
  Result<std::shared_ptr<const ReadableFile>> file = open_file();
  if (!file.ok()) return;
  inside_->metadata_loads.fetch_add(1, std::memory_order_relaxed);
  // It hashes with its own key, so it works with any store hash.
  Result<AnyFilter> filter = read(**file, **of_table, path());
  if (filter.ok()) {
    return holder.hold(share_charged(std::make_unique<const AnyFilter>(*std::move(filter)), std::move(charge)));
  }
  if (filter.status().code() == StatusCode::kIoError) return;
  remember_filter_problem(filter.status());
  holder.set_useless();
}

void Table::load_prefix_filter() {
  load_scan_filter(inside_->prefix_filter, facts_->prefix_filter_bytes, read_prefix_filter);
}
void Table::load_range_filter() {
  load_scan_filter(inside_->range_filter, facts_->range_filter_bytes, read_range_filter);
}

void Table::remember_filter_problem(const Status& problem) {
  const MutexLock lock(inside_->mutex);
  if (!inside_->filter_problem) inside_->filter_problem = problem;
}

std::optional<Status> Table::filter_problem() const {
  const MutexLock lock(inside_->mutex);
  return inside_->filter_problem;
}

Status Table::load() {
  std::uint32_t metadata_reads = 0;
  TAMIS_TRY_STATUS(properties().status());
  if (facts_->entries == 0) return {};  // It has range deletes alone.
  if (!has_index_in_memory()) TAMIS_TRY_STATUS(open_index(true, metadata_reads).status());
  load_filter(metadata_reads);
  load_prefix_filter();
  load_range_filter();
  return {};
}

UnloadedMetadata Table::unload_filter() {
  UnloadedMetadata unloaded;
  unloaded.prefix_filter = inside_->prefix_filter.release();
  unloaded.range_filter = inside_->range_filter.release();
  const MutexLock lock(inside_->mutex);
  filter_.store(nullptr);
  unloaded.filter = std::move(inside_->owned_filter);
  return unloaded;
}

UnloadedMetadata Table::unload_index() {
  UnloadedMetadata unloaded;
  const MutexLock lock(inside_->mutex);
  index_.store(nullptr);
  inside_->charged_index.store(nullptr);
  unloaded.index = std::move(inside_->owned_index);
  return unloaded;
}

std::uint64_t Table::filter_memory_bytes() const {
  return facts_->filter_bytes_with(planned_filter_columns()) + facts_->scan_filter_bytes();
}

std::uint64_t Table::index_memory_bytes() const {
  const MutexLock lock(inside_->mutex);
  if (inside_->owned_index != nullptr) return inside_->owned_index->index->memory_bytes();
  return Index::memory_bytes_for(facts_->index_bytes);
}

Result<std::uint64_t> Table::verify(std::vector<TableProblem>& problems,
                                    const std::function<bool(std::uint64_t bytes)>& progress) const {
  TAMIS_TRY(const std::shared_ptr<const ReadableFile> file, open_file());
  Result<TableProperties> read = read_own_properties(*file);
  if (!read.ok()) {
    const StatusCode code = read.status().code();
    if (code != StatusCode::kCorruption && code != StatusCode::kNotSupported) return read.status();
    problems.push_back({0, std::string(read.status().message())});
    return std::uint64_t{0};
  }
  return verify_table(*file, *read, path(), problems, progress);
}

}  // namespace tamis
