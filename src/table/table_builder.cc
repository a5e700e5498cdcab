#include "table/table_builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "entry/expiry.h"
#include "filter/filter_kind.h"
#include "filter/range_filter_format.h"
#include "io/append_file.h"
#include "table/block_file.h"
#include "table/block_trailer_format.h"
#include "table/data_block_format.h"
#include "table/index_format.h"
#include "table/range_tombstones_format.h"
#include "table/value_pointers.h"

namespace tamis {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{256} << 10;  // The minimum of one write.
constexpr std::string_view kPrefixFilterKind = "line";       // If the table has no other filter.
constexpr double kPrefixBitsPerKey = 10;                     // 1 % of the scans read in vain.
constexpr std::uint32_t kMaxPaddingShare = 16;               // At most a sixteenth of a block is padding.

/// Whether blocks are padded so that they end where a page does. The size of a compressed block is not known until it
/// is complete.
bool has_padded_blocks(const TableSpec& spec) {
  const bool is_compressed = spec.codec != nullptr && spec.codec->id != 0;
  return !is_compressed && spec.block_bytes % data_block::kPageBytes == 0;
}

std::uint8_t id_of_kind(std::string_view name) {
  const FilterKind* const kind = find_filter_kind(name);
  return kind != nullptr ? kind->info.id : 0;
}

/// Nullopt if the filter cannot be built; bad options are an error.
Result<std::optional<Filter>> build_filter(FilterOptions options, const std::vector<std::uint64_t>& hashes) {
  FilterBuilder builder(std::move(options));
  for (const std::uint64_t hash : hashes) builder.add_hash(hash);
  Result<Filter> filter = builder.finish();
  if (filter.ok()) return std::optional(*std::move(filter));
  if (filter.status().code() == StatusCode::kInvalidArgument) return filter.status();
  return std::optional<Filter>();
}

}  // namespace

class TableBuilder::State {
 public:
  State(TableSpec spec, std::unique_ptr<WritableFile> file)
      : spec_(std::move(spec)), file_(std::move(file), 0), hasher_(spec_.identity.hash_key), block_(spec_.block_bytes) {
    facts_.number = spec_.number;
    facts_.smallest_sequence = kMaxSequence;
    facts_.created_unix_seconds = spec_.created_unix_seconds;
    if (has_padded_blocks(spec_)) spec_.features |= Features::of(Feature::kPaddedBlocks);
    if (spec_.range_filter_bits != 0) {
      spec_.features |= Features::of(Feature::kRangeFilters);
      range_filter_.emplace(spec_.range_filter_bits, spec_.identity.hash_key);
    }
    facts_.features = spec_.features;
    buffer_ = as_text(encode_table_header({spec_.identity.store_id, spec_.number, spec_.features}));
    choose_block_target();
  }

  Status add(const Entry& entry, std::uint64_t hash);
  Result<TableFacts> finish(const FilterChoice& choice);

  void set_range_deletes(std::vector<RangeTombstone> fragments) { range_deletes_ = std::move(fragments); }
  void set_replaces(std::vector<std::uint64_t> replaces) { spec_.replaces = std::move(replaces); }
  [[nodiscard]] const TableFacts& facts() const { return facts_; }
  [[nodiscard]] std::string_view last_key() const { return last_key_; }
  [[nodiscard]] std::uint64_t estimated_bytes() const {
    return offset() + block_text_bytes_ + index_.estimated_bytes() + kTableFooterBytes;
  }
  [[nodiscard]] std::uint64_t memory_bytes() const {
    return (hashes_.capacity() + prefix_hashes_.capacity()) * sizeof(std::uint64_t) +
           (range_filter_ ? range_filter_->memory_bytes() : 0);
  }

 private:
  [[nodiscard]] std::uint64_t offset() const { return file_.end() + buffer_.size(); }
  void begin_key(std::string_view key, std::uint64_t hash);
  void count(const Entry& entry);
  void choose_block_target();
  Status end_block(bool is_last);
  std::size_t padding_after(std::size_t block_bytes) const;
  Status write_buffer();
  Status write_filters(const FilterChoice& choice, TableProperties& properties);
  Status write_range_filter(TableProperties& properties);
  void count_range_deletes();
  Status write_range_deletes(TableProperties& properties);
  Status write_section(Bytes bytes, std::uint64_t checked_bytes, Section& section);
  Status write_end(TableProperties& properties);

  TableSpec spec_;
  AppendFile file_;
  std::string buffer_;  // Bytes after the file's end, not yet written.
  const KeyHasher hasher_;
  std::vector<std::uint64_t> hashes_;         // One per key.
  std::vector<std::uint64_t> prefix_hashes_;  // One per prefix.
  std::string last_prefix_;
  std::optional<RangeFilterBuilder> range_filter_;  // None: the table gets none.
  DataBlockBuilder block_;
  std::uint64_t block_text_bytes_ = 0;  // Keys and values in block_.
  std::string block_first_key_;
  std::string block_second_key_;
  bool block_has_second_key_ = false;
  std::string last_key_;  // The last entry's.
  Sequence last_sequence_ = {};
  std::string key_before_block_;
  IndexBuilder index_;
  std::vector<RangeTombstone> range_deletes_;
  TableFacts facts_;
};

Status TableBuilder::State::add(const Entry& entry, std::uint64_t hash) {
  if (entry.key.size() > kMaxKeyBytes || entry.value.size() > kMaxEntryBytes - entry.key.size()) {
    return Status::invalid_argument(
        fmt::format("an entry of {} + {} bytes is larger than a table can hold", entry.key.size(), entry.value.size()));
  }
  const int order = facts_.entries == 0 ? -1 : std::string_view(last_key_).compare(entry.key);
  TAMIS_CHECK(order < 0 || (order == 0 && last_sequence_ > entry.sequence));
  if (!block_.fits(entry)) TAMIS_TRY_STATUS(end_block(false));
  if (block_.empty()) {
    key_before_block_ = last_key_;
    block_first_key_ = entry.key;
    block_has_second_key_ = false;
  } else if (!block_has_second_key_ && order < 0) {
    block_second_key_ = entry.key;
    block_has_second_key_ = true;
  }
  block_.add(entry, hash);
  block_text_bytes_ += entry.key.size() + entry.value.size() + 8;
  if (order < 0) begin_key(entry.key, hash);
  last_sequence_ = entry.sequence;
  count(entry);
  return {};
}

void TableBuilder::State::begin_key(std::string_view key, std::uint64_t hash) {
  if (facts_.entries == 0) facts_.smallest_key = key;
  last_key_ = key;
  ++facts_.keys;
  hashes_.push_back(hash);
  if (range_filter_) range_filter_->add(key);
  if (spec_.prefix_rule.kind == PrefixRule::Kind::kNone) return;
  const std::string_view prefix = spec_.prefix_rule.prefix_of(key);
  if (!prefix_hashes_.empty() && prefix == last_prefix_) return;
  last_prefix_ = prefix;
  prefix_hashes_.push_back(hasher_(prefix));
}

void TableBuilder::State::count(const Entry& entry) {
  ++facts_.entries;
  facts_.deletes += entry.kind == EntryKind::kDelete ? 1 : 0;
  facts_.operands += entry.kind == EntryKind::kMerge ? 1 : 0;
  if (expires(entry.kind)) facts_.add_expiring(load_expiring(entry.value).due);
  facts_.key_bytes += entry.key.size();
  facts_.value_bytes += entry.value.size();
  facts_.smallest_sequence = std::min(facts_.smallest_sequence, entry.sequence);
  facts_.largest_sequence = std::max(facts_.largest_sequence, entry.sequence);
  if (is_apart(entry.kind)) count_value(facts_.values_apart, pointer_of(entry));
}

/// The next block may extend to the end of a page, unless little would be left of it.
void TableBuilder::State::choose_block_target() {
  if (!has_padded_blocks(spec_)) return;
  std::size_t target = spec_.block_bytes - offset() % data_block::kPageBytes;
  if (target < spec_.block_bytes / 2) target += data_block::kPageBytes;
  block_.set_target(target);
}

/// From the end of a block to the end of its page; 0 if that would waste too much.
std::size_t TableBuilder::State::padding_after(std::size_t block_bytes) const {
  if (!has_padded_blocks(spec_)) return 0;
  const std::size_t padding = -(offset() + block_bytes + kBlockTrailerBytes) % data_block::kPageBytes;
  return block_bytes < spec_.block_bytes && padding <= spec_.block_bytes / kMaxPaddingShare ? padding : 0;
}

Status TableBuilder::State::end_block(bool is_last) {
  const std::uint64_t begin = offset();
  std::string_view block = block_.finish();
  if (const std::size_t padding = is_last ? 0 : padding_after(block.size()); padding > 0) block = block_.pad(padding);
  append_block(buffer_, as_bytes(block), spec_.codec, spec_.number, begin);
  if (spec_.wrote_block) spec_.wrote_block(spec_.number, index_.blocks(), block);
  choose_block_target();
  block_text_bytes_ = 0;
  const auto bytes = static_cast<std::uint32_t>(offset() - begin);
  index_.add(key_before_block_, block_first_key_, block_has_second_key_ ? block_second_key_ : std::string_view(),
             {begin, bytes});
  return buffer_.size() < kWriteBytes ? Status() : write_buffer();
}

Status TableBuilder::State::write_buffer() {
  TAMIS_TRY_STATUS(file_.append(as_bytes(buffer_)));
  buffer_.clear();
  return {};
}

Result<TableFacts> TableBuilder::State::finish(const FilterChoice& choice) {
  TAMIS_CHECK(facts_.entries > 0 || !range_deletes_.empty());
  if (facts_.entries > 0) TAMIS_TRY_STATUS(end_block(true));
  facts_.largest_key = last_key_;
  facts_.blocks = facts_.entries == 0 ? 0 : index_.blocks();
  count_range_deletes();
  if (facts_.tombstones() > 0) {
    facts_.oldest_delete_unix_seconds =
        spec_.oldest_delete_unix_seconds != 0 ? spec_.oldest_delete_unix_seconds : spec_.created_unix_seconds;
  }
  TableProperties properties;
  properties.identity = spec_.identity;
  properties.keyspace = spec_.keyspace;
  properties.keyspace_name = spec_.keyspace_name;
  properties.prefix_rule = spec_.prefix_rule;
  properties.codec = spec_.codec == nullptr ? std::uint8_t{0} : spec_.codec->id;
  properties.block_bytes = spec_.block_bytes;
  properties.level = spec_.level;
  properties.run = spec_.run;
  properties.replaces = spec_.replaces;
  properties.rewrite = spec_.rewrite;
  properties.flushed_sequence = spec_.flushed_sequence;
  TAMIS_TRY_STATUS(write_filters(facts_.entries == 0 ? FilterChoice() : choice, properties));
  TAMIS_TRY_STATUS(write_range_filter(properties));
  TAMIS_TRY_STATUS(write_range_deletes(properties));
  TAMIS_TRY_STATUS(write_end(properties));
  return facts_;
}

void TableBuilder::State::count_range_deletes() {
  if (range_deletes_.empty()) return;
  facts_.range_deletes = range_deletes_.size();
  facts_.range_extent = {range_deletes_.front().range.from, range_deletes_.back().range.to};
  for (const RangeTombstone& fragment : range_deletes_) {
    facts_.smallest_sequence = std::min(facts_.smallest_sequence, fragment.sequence);
    facts_.largest_sequence = std::max(facts_.largest_sequence, fragment.sequence);
  }
}

Status TableBuilder::State::write_range_deletes(TableProperties& properties) {
  if (range_deletes_.empty()) return {};
  TAMIS_CHECK(spec_.features.includes(Features::of(Feature::kRangeDeletes)));
  properties.range_deletes.offset = offset();
  const std::string bytes = encode_range_tombstones(range_deletes_);
  return write_section(as_bytes(bytes), bytes.size(), properties.range_deletes);
}

Status TableBuilder::State::write_filters(const FilterChoice& choice, TableProperties& properties) {
  FilterOptions options;
  options.seed.key = spec_.identity.hash_key;
  properties.filter.offset = offset();
  if (!choice.kind.empty()) {
    options.kind = choice.kind;
    (choice.rate != 0 ? options.target_rate : options.bits_per_key) =
        choice.rate != 0 ? choice.rate : choice.bits_per_key;
    TAMIS_TRY(const std::optional<Filter> filter, build_filter(options, hashes_));
    std::vector<std::uint64_t>().swap(hashes_);
    if (filter) {
      facts_.filter_slices = SlicedSizes::of(filter->bytes());
      const std::uint64_t first = facts_.filter_slices ? facts_.filter_slices->first_bytes : filter->bytes().size();
      TAMIS_TRY_STATUS(write_section(filter->bytes(), first, properties.filter));
      facts_.filter_kind = id_of_kind(choice.kind);
      facts_.filter_rate = std::clamp(filter->info().designed_rate, 0.0, 1.0);
    }
  }
  properties.prefix_filter.offset = offset();
  if (!prefix_hashes_.empty()) {
    options.kind = choice.kind.empty() ? kPrefixFilterKind : choice.kind;
    options.target_rate.reset();
    options.bits_per_key = kPrefixBitsPerKey;
    options.prefix_rule = spec_.prefix_rule;
    TAMIS_TRY(const std::optional<Filter> filter, build_filter(options, prefix_hashes_));
    if (filter) TAMIS_TRY_STATUS(write_section(filter->bytes(), filter->bytes().size(), properties.prefix_filter));
  }
  facts_.filter_bytes = properties.filter.bytes;
  facts_.prefix_filter_bytes = properties.prefix_filter.bytes;
  return {};
}

Status TableBuilder::State::write_range_filter(TableProperties& properties) {
  if (!range_filter_ || facts_.entries == 0) return {};
  const std::optional<std::string> filter = range_filter_->finish();
  if (!filter) return {};
  facts_.range_filter_bytes = filter->size();
  properties.range_filter.offset = offset();
  return write_section(as_bytes(*filter), filter->size(), properties.range_filter);
}

/// The section's checksum is that of the first `checked_bytes`.
Status TableBuilder::State::write_section(Bytes bytes, std::uint64_t checked_bytes, Section& section) {
  section.bytes = bytes.size();
  section.checksum = checksum64(bytes.first(checked_bytes));
  buffer_ += as_text(bytes);
  return buffer_.size() < kWriteBytes ? Status() : write_buffer();
}

Status TableBuilder::State::write_end(TableProperties& properties) {
  properties.index.offset = offset();
  if (facts_.entries > 0) {
    const IndexSection index = index_.finish(block_checksum_seed(spec_.number, offset()));
    buffer_ += index.bytes;
    properties.index_top_bytes = index.top_bytes;
  }
  properties.index.bytes = facts_.index_bytes = offset() - properties.index.offset;
  const std::uint64_t properties_at = offset();
  properties.facts = facts_;
  facts_.file_bytes = properties_at + encode_properties(properties).size() + kTableFooterBytes;
  properties.facts = facts_;
  const std::string encoded = encode_properties(properties);
  buffer_ += encoded;
  buffer_ += encode_footer(as_bytes(encoded), properties_at);
  TAMIS_CHECK(offset() == facts_.file_bytes);
  TAMIS_TRY_STATUS(write_buffer());
  TAMIS_TRY_STATUS(file_.sync());
  return file_.close();
}

Result<std::unique_ptr<TableBuilder>> TableBuilder::create(FileSystem& files, TableSpec spec) {
  TAMIS_TRY(std::unique_ptr<WritableFile> file, files.open_writable(spec.path, OpenMode::kCreate));
  auto state = std::make_unique<State>(std::move(spec), std::move(file));
  return std::unique_ptr<TableBuilder>(new TableBuilder(std::move(state)));
}

TableBuilder::TableBuilder(std::unique_ptr<State> state) : state_(std::move(state)) {}
TableBuilder::~TableBuilder() = default;

Status TableBuilder::add(const Entry& entry, std::uint64_t hash) { return state_->add(entry, hash); }
Result<TableFacts> TableBuilder::finish(const FilterChoice& filter) { return state_->finish(filter); }

std::uint64_t TableBuilder::entries() const { return state_->facts().entries; }
std::uint64_t TableBuilder::keys() const { return state_->facts().keys; }
std::uint64_t TableBuilder::estimated_bytes() const { return state_->estimated_bytes(); }
std::string_view TableBuilder::last_key() const { return state_->last_key(); }
void TableBuilder::set_range_deletes(std::vector<RangeTombstone> fragments) {
  state_->set_range_deletes(std::move(fragments));
}
void TableBuilder::set_replaces(std::vector<std::uint64_t> replaces) { state_->set_replaces(std::move(replaces)); }
std::uint64_t TableBuilder::memory_bytes() const { return state_->memory_bytes(); }

}  // namespace tamis
