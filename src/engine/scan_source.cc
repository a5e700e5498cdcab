#include "engine/scan_source.h"

#include <utility>

#include "base/try.h"
#include "entry/merging_iterator.h"
#include "entry/uncovered_iterator.h"

namespace tamis {
namespace {

/// Reads from the value files of a version, which outlives it.
class ValuesOfVersion final : public ApartValues {
 public:
  explicit ValuesOfVersion(const Version& version) : version_(version) {}

  Status read(std::string_view key, std::string_view pointer, std::string& to) override {
    TAMIS_TRY(const ValueRead read, version_.begin_value(key, pointer, to));
    return read.file->read(read.pointer, key, to);
  }

 private:
  const Version& version_;
};

}  // namespace

void iterate_uncovered(const Memtable& memtable, const Uncovered& uncovered,
                       std::vector<std::unique_ptr<EntryIterator>>& runs) {
  if (uncovered.deletes == nullptr) [[likely]]
    return runs.push_back(memtable.iterate());
  if (memtable.entries() == 0) return;
  for (SplitEntries& part : memtable.iterate_split(uncovered.deletes->newest(uncovered.moment))) {
    runs.push_back(std::make_unique<UncoveredIterator>(std::move(part.iterator), uncovered, part.newest));
  }
}

ScanSource::ScanSource(const ReadView& view, KeyspaceId keyspace, const Moment& moment)
    : keyspace_(keyspace), moment_(moment), version_(view.version) {
  keep(view.active);
  for (const std::shared_ptr<Memtable>& sealed : view.sealed) keep(sealed);
}

std::unique_ptr<EntryIterator> ScanSource::merged(const KeyRange& range, std::string_view prefix, EmptyRanges& empty,
                                                  bool fills_cache) {
  bool has_range_deletes = version_->range_deletes() != nullptr;
  if (has_range_deletes) version_->range_deletes()->read_again();
  for (const std::shared_ptr<Memtable>& memtable : memtables_) has_range_deletes |= memtable->has_range_deletes();
  watch_.emplace(empty, keyspace_, moment_, fills_cache);
  Uncovered uncovered{.moment = moment_.sequence};
  if (has_range_deletes || !empty.empty()) [[unlikely]] {
    SharedEmptyRanges known;
    if (!empty.empty()) known = empty.known(keyspace_, range, moment_);
    if (has_range_deletes || !known.empty()) {
      uncovered.deletes = &range_deletes_.emplace(memtables_, *version_, std::move(known));
      uncovered.stepped = watch_->count_steps();
    }
  }
  std::vector<std::unique_ptr<EntryIterator>> runs;
  for (const std::shared_ptr<Memtable>& memtable : memtables_) iterate_uncovered(*memtable, uncovered, runs);
  version_->iterate(range, prefix, ScanCaching(watch_->fills_cache()), uncovered, runs);
  return make_merging_iterator(std::move(runs));
}

std::unique_ptr<ApartValues> ScanSource::values_apart() const {
  if (version_->value_files().empty()) return nullptr;
  return std::make_unique<ValuesOfVersion>(*version_);
}

}  // namespace tamis
