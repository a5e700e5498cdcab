#include "tamis/table_file.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "base/try.h"
#include "entry/expiry.h"
#include "filter/filter_kind.h"
#include "io/posix_file_system.h"
#include "table/block_file.h"
#include "table/block_trailer_format.h"
#include "table/codec.h"
#include "table/data_block_format.h"
#include "table/index_format.h"
#include "table/table_sections.h"
#include "table/table_verify.h"
#include "table/value_pointers.h"

namespace tamis {

/// An open file and its metadata. Constant.
class TableFileState {
 public:
  std::string path;
  std::unique_ptr<ReadableFile> file;
  TableProperties properties;
  std::unique_ptr<const Index> index;  // Null without entries.

  [[nodiscard]] std::uint32_t blocks() const { return index == nullptr ? 0 : index->blocks(); }
  [[nodiscard]] Result<BlockBuffer> read(std::uint32_t block) const {
    return read_block(*file, index->position(block), properties.facts.number, path);
  }
};

/// An iterator's position.
class TableEntriesState {
 public:
  explicit TableEntriesState(std::shared_ptr<const TableFileState> file) : file_(std::move(file)) {}

  bool next() {
    if (!status_.ok()) return false;
    if (!data_ || ++at_ == data_->size()) {
      data_.reset();
      if (block_ == file_->blocks()) return false;
      Result<BlockBuffer> frame = file_->read(block_);
      if (!frame.ok()) {
        status_ = frame.status();
        return false;
      }
      frame_ = *std::move(frame);
      data_.emplace(block_of(frame_.span()));
      ++block_;
      at_ = 0;
    }
    data_->load(at_, key_, entry_);
    return true;
  }
  /// Empty if it is on no entry.
  [[nodiscard]] const Entry& entry() const {
    static const Entry none = {};
    return data_ ? entry_ : none;
  }
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  std::shared_ptr<const TableFileState> file_;
  std::uint32_t block_ = 0;  // The next block.
  BlockBuffer frame_;
  std::optional<DataBlock> data_;
  std::size_t at_ = 0;
  std::string key_;
  Entry entry_;
  Status status_;
};

namespace {

std::string hex_of(Bytes bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

std::string kind_name(std::uint8_t id) {
  if (const FilterKind* const kind = find_filter_kind(id)) return std::string(kind->info.name);
  return id == 0 ? "none" : fmt::format("unknown ({})", id);
}

std::string codec_name(std::uint8_t id) {
  const Codec* codec = find_codec(id);
  return codec != nullptr ? std::string(codec->name) : fmt::format("unknown ({})", id);
}

Status no_file() { return Status::closed("this belongs to no table file: it was moved from or never opened"); }

std::string section_text(const Section& section) {
  return section.bytes == 0 ? "none" : fmt::format("{} bytes at {}", section.bytes, section.offset);
}

}  // namespace

Result<TableFile> TableFile::open(const std::string& path) {
  auto state = std::make_shared<TableFileState>();
  state->path = path;
  TAMIS_TRY(state->file, posix_file_system().open_readable(path));
  TAMIS_TRY(state->properties, read_properties(*state->file, path));
  if (state->properties.facts.entries > 0) {
    TAMIS_TRY(state->index, read_index(*state->file, state->properties, path));
  }
  return TableFile(std::move(state));
}

TableFile::TableFile(std::shared_ptr<const TableFileState> state) : state_(std::move(state)) {}

std::vector<TableFile::Property> TableFile::properties() const {
  if (state_ == nullptr) return {};
  const TableProperties& properties = state_->properties;
  const TableFacts& facts = properties.facts;
  std::vector<Property> rows;
  const auto text = [&](std::string_view name, std::string value) {
    rows.push_back({std::string(name), std::move(value)});
  };
  const auto number = [&](std::string_view name, std::uint64_t value) { text(name, std::to_string(value)); };
  number("number", facts.number);
  text("store id", hex_of(properties.identity.store_id));
  text("keyspace", properties.keyspace_name.empty() ? "default" : properties.keyspace_name);
  number("file bytes", facts.file_bytes);
  number("entries", facts.entries);
  number("deletes", facts.deletes);
  number("keys", facts.keys);
  number("key bytes", facts.key_bytes);
  number("value bytes", facts.value_bytes);
  const ValuesOfTable apart = sum_of(facts.values_apart);
  number("values apart", apart.values);
  number("bytes of values apart", apart.bytes);
  text("smallest key", facts.smallest_key);
  text("largest key", facts.largest_key);
  if (facts.range_deletes > 0) {
    number("range deletes", facts.range_deletes);
    text("range deletes from", facts.range_extent.from);
    text("range deletes to", facts.range_extent.to.value_or("the end"));
  }
  number("smallest sequence", number_of(facts.smallest_sequence));
  number("largest sequence", number_of(facts.largest_sequence));
  number("blocks", facts.blocks);
  number("block bytes", properties.block_bytes);
  text("codec", codec_name(properties.codec));
  text("filter", kind_name(facts.filter_kind));
  text("filter section", section_text(properties.filter));
  text("filter bits per key", fmt::format("{:.2f}", facts.filter_bits_per_key()));
  text("filter rate", fmt::format("{:.3g}", facts.filter_rate));
  text("prefix rule", properties.prefix_rule.to_text());
  text("prefix filter section", section_text(properties.prefix_filter));
  text("range filter section", section_text(properties.range_filter));
  text("index section", section_text(properties.index));
  text("order", std::string(kBytewiseOrder));
  text("hash", properties.hash_id == kKeyedXxh3 ? "keyed xxh3" : fmt::format("unknown ({})", properties.hash_id));
  number("level", properties.level);
  number("run", properties.run);
  std::string replaces;
  for (const std::uint64_t table : properties.replaces)
    replaces += fmt::format("{}{}", replaces.empty() ? "" : " ", table);
  text("replaces", replaces.empty() ? "none" : replaces);
  number("flushed sequence", properties.flushed_sequence);
  number("created (unix seconds)", facts.created_unix_seconds);
  number("oldest delete (unix seconds)", facts.oldest_delete_unix_seconds);
  return rows;
}

std::uint32_t TableFile::blocks() const { return state_ == nullptr ? 0 : state_->blocks(); }

Result<TableFile::Block> TableFile::block(std::uint32_t number) const {
  if (state_ == nullptr) return no_file();
  if (number >= blocks()) {
    return Status::invalid_argument(fmt::format("{}: block {} of {}", state_->path, number, blocks()));
  }
  const BlockPosition position = state_->index->position(number);
  std::vector<std::byte> stored(position.bytes);
  TAMIS_TRY(const std::size_t there, state_->file->read_at(position.offset, stored));
  stored.resize(there);
  const std::uint64_t table = state_->properties.facts.number;
  const std::uint64_t seed = block_checksum_seed(table, position.offset);
  TAMIS_TRY(const BlockTrailer trailer, verify_block_trailer(stored, seed, state_->path, position.offset));
  TAMIS_TRY(const BlockBuffer frame, open_block(stored, table, position.offset, state_->path));
  TAMIS_TRY_STATUS(DataBlock::check(block_of(frame.span()), state_->path, position.offset));
  const DataBlock data(block_of(frame.span()));
  Block block{number,
              position.offset,
              position.bytes,
              trailer.block_bytes,
              static_cast<std::uint32_t>(data.size()),
              codec_name(trailer.codec),
              {},
              state_->index->separator(number)};
  Entry first;
  data.load(0, block.first_key, first);
  return block;
}

TableFile::Entries TableFile::entries() const {
  return state_ == nullptr ? Entries() : Entries(std::make_unique<TableEntriesState>(state_));
}

Result<std::vector<TableFile::Problem>> TableFile::verify(
    const std::function<bool(std::uint64_t bytes)>& progress) const {
  if (state_ == nullptr) return no_file();
  std::vector<TableProblem> found;
  TAMIS_TRY_STATUS(verify_table(*state_->file, state_->properties, state_->path, found, progress).status());
  std::vector<Problem> problems;
  problems.reserve(found.size());
  for (TableProblem& problem : found) problems.push_back({problem.offset, std::move(problem.what)});
  return problems;
}

TableFile::Entries::Entries(std::unique_ptr<TableEntriesState> state) : state_(std::move(state)) {}
TableFile::Entries::Entries() noexcept = default;
TableFile::Entries::Entries(Entries&&) noexcept = default;
TableFile::Entries& TableFile::Entries::operator=(Entries&&) noexcept = default;
TableFile::Entries::~Entries() = default;

bool TableFile::Entries::next() { return state_ != nullptr && state_->next(); }
std::string_view TableFile::Entries::key() const {
  return state_ == nullptr ? std::string_view() : state_->entry().key;
}
std::string_view TableFile::Entries::value() const {
  if (state_ == nullptr || is_apart(state_->entry().kind)) return {};
  const Entry& entry = state_->entry();
  return expires(entry.kind) ? load_expiring(entry.value).value : entry.value;
}
std::optional<TableFile::ApartValue> TableFile::Entries::apart() const {
  if (state_ == nullptr || !is_apart(state_->entry().kind)) return {};
  const ValuePointer pointer = pointer_of(state_->entry());
  return ApartValue{pointer.file, pointer.offset, pointer.stored_bytes, pointer.value_bytes};
}
std::optional<ExpiryTime> TableFile::Entries::expires_at() const {
  if (state_ == nullptr || !expires(state_->entry().kind)) return {};
  return ExpiryTime(std::chrono::milliseconds(load_expiring(state_->entry().value).due));
}
std::uint64_t TableFile::Entries::sequence() const {
  return state_ == nullptr ? 0 : number_of(state_->entry().sequence);
}
bool TableFile::Entries::is_delete() const { return state_ != nullptr && state_->entry().kind == EntryKind::kDelete; }
bool TableFile::Entries::is_merge() const { return state_ != nullptr && state_->entry().kind == EntryKind::kMerge; }
const Status& TableFile::Entries::status() const {
  static const Status& none = *new Status(no_file());  // Never destroyed, as in Iterator::status.
  return state_ == nullptr ? none : state_->status();
}

}  // namespace tamis
