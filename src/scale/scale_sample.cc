#include "scale/scale_sample.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/random.h"
#include "base/try.h"
#include "io/memory_file_system.h"
#include "memtable/memtable.h"
#include "table/table_builder.h"
#include "table/table_sections.h"
#include "tree/manifest_format.h"

namespace tamis {
namespace {

constexpr std::uint64_t kMaxSampleBytes = std::uint64_t{8} << 20;
constexpr std::uint64_t kMaxSampleEntries = 50'000;  // A dozen index groups; a fifth of a second.
constexpr std::uint64_t kMinSampleEntries = 8;
constexpr std::uint64_t kMaxSampleMemory = std::uint64_t{32} << 20;
constexpr const char* kPath = "/000001.tms";

/// Ascending keys from the middle of the key space, about as far apart as `keys` evenly spread keys.
class SampleKeys {
 public:
  explicit SampleKeys(const SampleSpec& spec) : spec_(spec), random_(1) {
    const std::uint64_t head_bytes = std::min<std::uint64_t>(spec.key_bytes, 8);
    shift_ = 64 - 8 * static_cast<unsigned>(head_bytes);
    step_ = head_bytes == 0 ? 0 : (~std::uint64_t{0} >> shift_) / std::max<std::uint64_t>(2, spec.keys);
    next_ = head_bytes == 0 ? 0 : (~std::uint64_t{0} >> shift_) / 2;
  }
  [[nodiscard]] bool can_be_told_apart() const { return step_ >= 2; }

  std::string next() {
    std::string key(std::max<std::size_t>(spec_.key_bytes, 8), '\0');
    store_be(key.data(), (next_ + random_.below(step_)) << shift_);
    for (std::size_t i = 8; i < key.size(); ++i) key[i] = static_cast<char>(random_.next());
    key.resize(spec_.key_bytes);
    next_ += step_;
    return key;
  }

 private:
  const SampleSpec& spec_;
  SplitMix64 random_;
  unsigned shift_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t next_ = 0;
};

std::uint64_t sample_entries(const SampleSpec& spec) {
  const std::uint64_t fit =
      std::min(spec.table_bytes, kMaxSampleBytes) / std::max<std::uint64_t>(1, spec.key_bytes + spec.value_bytes);
  const std::uint64_t from_the_middle = std::max<std::uint64_t>(1, spec.keys / 2);
  return std::min(std::clamp(fit, kMinSampleEntries, kMaxSampleEntries), from_the_middle);
}

/// The bytes that one more table adds to a manifest.
std::uint64_t manifest_bytes_of(const TableFacts& facts) {
  constexpr std::uint64_t kTypicalRun = 100'000;  // Encoded in three bytes.
  ManifestRecord record;
  KeyspaceEdit& keyspace = record.edit.keyspaces[kDefaultKeyspace];
  const std::size_t without = encode_manifest_record(record).size();
  keyspace.shape.added.push_back({.level = 1, .run = kTypicalRun, .facts = std::make_shared<TableFacts>(facts)});
  return encode_manifest_record(record).size() - without;
}

}  // namespace

Result<TableSample> sample_table(const SampleSpec& spec) {
  SampleKeys keys(spec);
  if (!keys.can_be_told_apart()) {
    return Status::invalid_argument(fmt::format("{} keys of {} bytes cannot be told apart", spec.keys, spec.key_bytes));
  }
  MemoryFileSystem files;
  TAMIS_TRY(const std::unique_ptr<TableBuilder> builder,
            TableBuilder::create(files, {.path = kPath, .number = 1, .block_bytes = spec.block_bytes}));
  const std::string value(spec.value_bytes, 'v');
  SplitMix64 random(2);
  const std::uint64_t entries = sample_entries(spec);
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::string key = keys.next();
    const Sequence sequence{spec.has_sequences ? 1 + random.below(spec.keys) : 0};
    TAMIS_TRY_STATUS(builder->add({key, value, sequence, EntryKind::kPut}, random.next()));
  }
  TAMIS_TRY(const TableFacts facts, builder->finish({}));
  TAMIS_TRY(const std::unique_ptr<ReadableFile> file, files.open_readable(kPath));
  TAMIS_TRY(const TableProperties properties, read_properties(*file, kPath));
  TAMIS_TRY(const std::unique_ptr<const Index> index, read_index(*file, properties, kPath));

  const auto blocks = static_cast<double>(facts.blocks);
  const std::uint64_t data_bytes = properties.index.offset - kTableHeaderBytes;
  return TableSample{.data_bytes_per_entry = static_cast<double>(data_bytes) / static_cast<double>(entries),
                     .blocks_per_entry = blocks / static_cast<double>(entries),
                     .index_bytes_per_block = static_cast<double>(facts.index_bytes) / blocks,
                     .index_memory_per_block = static_cast<double>(index->memory_bytes()) / blocks,
                     .other_bytes = facts.file_bytes - data_bytes - facts.index_bytes,
                     .manifest_bytes = manifest_bytes_of(facts)};
}

std::uint64_t entries_of_memtable(const SampleSpec& spec, std::uint64_t memory_bytes) {
  const std::uint64_t limit = std::min(memory_bytes, kMaxSampleMemory);
  Memtable memtable;
  const std::string value(spec.value_bytes, 'v');
  SplitMix64 random(3);
  std::string key(spec.key_bytes, 'k');
  while (memtable.memory_bytes() < limit) {
    const std::uint64_t hash = random.next();
    for (std::size_t i = 0; i < std::min<std::size_t>(key.size(), 8); ++i) key[i] = static_cast<char>(hash >> 8 * i);
    memtable.insert({key, value, Sequence{memtable.entries() + 1}, EntryKind::kPut}, hash);
  }
  const double times = static_cast<double>(memory_bytes) / static_cast<double>(limit);
  return static_cast<std::uint64_t>(static_cast<double>(memtable.entries()) * std::max(1.0, times));
}

}  // namespace tamis
