#include "table/table_verify.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/try.h"
#include "entry/expiry.h"
#include "entry/key_range.h"
#include "table/block_file.h"
#include "table/data_block_format.h"
#include "table/index_format.h"
#include "table/table_sections.h"
#include "table/value_pointers.h"

namespace tamis {
namespace {

/// One pass over one file.
///
/// Threads: one.
class Verification {
 public:
  Verification(const ReadableFile& file, const TableProperties& properties, std::string_view name,
               std::vector<TableProblem>& problems)
      : file_(file), properties_(properties), name_(name), problems_(problems), hasher_(properties.identity.hash_key) {
    seen_.smallest_sequence = kMaxSequence;
  }

  Result<std::uint64_t> run(const std::function<bool(std::uint64_t)>& progress) {
    TAMIS_TRY_STATUS(open_sections());
    if (!step(properties_.facts.file_bytes - properties_.filter.offset, progress)) return stopped();
    if (index_ == nullptr && properties_.facts.entries > 0) return bytes_read_;
    const std::uint32_t blocks = index_ == nullptr ? 0 : index_->blocks();
    for (std::uint32_t block = 0; block < blocks; ++block) {
      TAMIS_TRY_STATUS(check_block(block));
      if (!step(index_->position(block).bytes, progress)) return stopped();
    }
    check_facts();
    return bytes_read_;
  }

 private:
  [[nodiscard]] static Status stopped() { return Status::closed("verification was stopped"); }
  bool step(std::uint64_t bytes, const std::function<bool(std::uint64_t)>& progress) {
    bytes_read_ += bytes;
    return !progress || progress(bytes);
  }
  void report(std::uint64_t offset, std::string what) { problems_.push_back({offset, std::move(what)}); }
  /// Damage is reported, and so is a filter that this build does not know; other errors end the verification.
  Status report_if_damage(std::uint64_t offset, const Status& status) {
    if (status.ok()) return {};
    if (status.code() != StatusCode::kCorruption && status.code() != StatusCode::kNotSupported) return status;
    report(offset, std::string(status.message()));
    return {};
  }

  Status open_sections() {
    TAMIS_TRY_STATUS(check_range_deletes());
    if (properties_.facts.entries > 0) {
      Result<std::unique_ptr<const Index>> index = read_index(file_, properties_, name_);
      TAMIS_TRY_STATUS(report_if_damage(properties_.index.offset, index.status()));
      if (index.ok()) index_ = *std::move(index);
    }
    TAMIS_TRY(filter_, open_filter(properties_.filter, read_filter));
    TAMIS_TRY(prefix_filter_, open_filter(properties_.prefix_filter, read_prefix_filter));
    TAMIS_TRY(range_filter_, open_filter(properties_.range_filter, read_range_filter));
    return {};
  }
  Status check_range_deletes() {
    Result<std::vector<RangeTombstone>> fragments = read_range_deletes(file_, properties_, name_);
    TAMIS_TRY_STATUS(report_if_damage(properties_.range_deletes.offset, fragments.status()));
    all_read_ = fragments.ok();
    if (!fragments.ok()) return {};
    for (const RangeTombstone& fragment : *fragments) count(fragment.sequence);
    return {};
  }
  template <typename AnyFilter>
  Result<std::optional<AnyFilter>> open_filter(const Section& section,
                                               Result<AnyFilter> (*read)(const ReadableFile&, const TableProperties&,
                                                                         std::string_view)) {
    if (section.bytes == 0) return std::optional<AnyFilter>();
    Result<AnyFilter> filter = read(file_, properties_, name_);
    TAMIS_TRY_STATUS(report_if_damage(section.offset, filter.status()));
    if (!filter.ok()) return std::optional<AnyFilter>();
    return std::optional(*std::move(filter));
  }

  Status check_block(std::uint32_t block) {
    const BlockPosition position = index_->position(block);
    Result<BlockBuffer> frame = read_block(file_, position, properties_.facts.number, name_);
    if (frame.status().code() == StatusCode::kNotSupported) return frame.status();
    TAMIS_TRY_STATUS(report_if_damage(position.offset, frame.status()));
    if (!frame.ok()) {
      all_read_ = has_last_ = false;
      return {};
    }
    const DataBlock data(block_of(frame->span()));
    std::string key;
    Entry entry;
    for (std::size_t i = 0; i < data.size(); ++i) {
      data.load(i, key, entry);
      if (i == 0) check_separator(block, position.offset, entry.key);
      check_entry(data, entry, position.offset);
      count(entry);
      last_key_ = entry.key;
      last_sequence_ = entry.sequence;
      has_last_ = true;
    }
    ++seen_.blocks;
    return {};
  }

  void check_separator(std::uint32_t block, std::uint64_t offset, std::string_view first_key) {
    const std::string separator = index_->separator(block);
    if (separator > first_key) report(offset, "the index's separator is above the block's first key");
    if (!has_last_) return;
    const bool continues = first_key == last_key_;
    if (continues != index_->continues(block)) report(offset, "the index is wrong on whether a key goes on here");
    if (!continues && separator <= last_key_) {
      report(offset, "the index's separator is not above the last key of the block before");
    }
  }

  void check_entry(const DataBlock& data, const Entry& entry, std::uint64_t offset) {
    if (has_last_ && entry.position() <= EntryPosition{last_key_, last_sequence_}) {
      report(offset, "an entry is not after the one before it");
    }
    const std::uint64_t hash = hasher_(entry.key);
    if (properties_.hash_id == kKeyedXxh3) {
      const std::optional<FoundEntry> found = data.find({entry.key, hash, entry.sequence}, true);
      if (found != FoundEntry{entry.kind, entry.sequence, entry.value}) report(offset, "a tag hides an entry");
    }
    if (has_last_ && entry.key == last_key_) return;
    ++seen_.keys;
    if (filter_ && !filter_->may_contain_hash(hash)) {
      report(properties_.filter.offset, fmt::format("the filter denies a key of the block at offset {}", offset));
    }
    if (prefix_filter_ && !prefix_filter_->may_contain(entry.key)) {
      report(properties_.prefix_filter.offset,
             fmt::format("the prefix filter denies a key of the block at offset {}", offset));
    }
    check_range_filter(entry.key, offset);
  }

  void check_range_filter(std::string_view key, std::uint64_t offset) {
    if (!range_filter_ || range_filter_->may_contain(key, after_key(key))) return;
    report(properties_.range_filter.offset,
           fmt::format("the range filter denies a key of the block at offset {}", offset));
  }

  void count(const Entry& loaded) {
    const Entry entry = loaded.plain();
    if (is_apart(entry.kind)) count_value(seen_.values_apart, pointer_of(entry));
    if (seen_.entries == 0) seen_.smallest_key = entry.key;
    ++seen_.entries;
    seen_.deletes += entry.kind == EntryKind::kDelete ? 1 : 0;
    seen_.operands += entry.kind == EntryKind::kMerge ? 1 : 0;
    if (expires(entry.kind)) seen_.add_expiring(load_expiring(entry.value).due);
    seen_.key_bytes += entry.key.size();
    seen_.value_bytes += entry.value.size();
    count(entry.sequence);
  }
  void count(Sequence sequence) {
    seen_.smallest_sequence = std::min(seen_.smallest_sequence, sequence);
    seen_.largest_sequence = std::max(seen_.largest_sequence, sequence);
  }

  /// Only if every block could be read: otherwise the counts are unknown.
  void check_facts() {
    if (!all_read_) return;
    const TableFacts& facts = properties_.facts;
    const std::uint64_t at = properties_.index.end();
    const auto compare = [&](std::string_view what, std::uint64_t seen, std::uint64_t said) {
      if (seen != said) report(at, fmt::format("the properties say {} {}, there are {}", said, what, seen));
    };
    compare("entries", seen_.entries, facts.entries);
    compare("deletes", seen_.deletes, facts.deletes);
    compare("expiring entries", seen_.expiring, facts.expiring);
    compare("as earliest due time", seen_.earliest_due, facts.earliest_due);
    compare("as latest due time", seen_.latest_due, facts.latest_due);
    compare("merge operands", seen_.operands, facts.operands);
    compare("keys", seen_.keys, facts.keys);
    compare("bytes of keys", seen_.key_bytes, facts.key_bytes);
    compare("bytes of values", seen_.value_bytes, facts.value_bytes);
    compare("as smallest sequence", number_of(seen_.smallest_sequence), number_of(facts.smallest_sequence));
    compare("as largest sequence", number_of(seen_.largest_sequence), number_of(facts.largest_sequence));
    if (seen_.values_apart != facts.values_apart) report(at, "the properties count other values in value files");
    if (seen_.smallest_key != facts.smallest_key) report(at, "the first key is not the smallest of the properties");
    if (last_key_ != facts.largest_key) report(at, "the last key is not the largest of the properties");
  }

  const ReadableFile& file_;
  const TableProperties& properties_;
  const std::string_view name_;
  std::vector<TableProblem>& problems_;
  const KeyHasher hasher_;
  std::unique_ptr<const Index> index_;
  std::optional<Filter> filter_;
  std::optional<Filter> prefix_filter_;
  std::optional<RangeFilter> range_filter_;
  std::uint64_t bytes_read_ = 0;
  bool all_read_ = true;
  TableFacts seen_;
  bool has_last_ = false;  // There was an entry before, with no damaged block in between.
  std::string last_key_;
  Sequence last_sequence_ = {};
};

}  // namespace

Result<std::uint64_t> verify_table(const ReadableFile& file, const TableProperties& properties, std::string_view name,
                                   std::vector<TableProblem>& problems,
                                   const std::function<bool(std::uint64_t bytes)>& progress) {
  return Verification(file, properties, name, problems).run(progress);
}

}  // namespace tamis
