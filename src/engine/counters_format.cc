#include "engine/counters_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/file_header_format.h"
#include "base/try.h"
#include "table/tagged_field_format.h"

namespace tamis {
namespace {

constexpr FileHeaderFormat kHeaderFormat = {kCountersMagic, "file of counters", kCountersVersion, kCountersBytes};
constexpr std::size_t kMaxTextBytes = 256;
constexpr std::size_t kMaxLevels = 32;

/// Tags on disk; never reused.
struct Number {
  std::uint32_t tag;
  std::uint64_t* (*in)(Stats& stats);
};
constexpr Number kNumbers[] = {
    Number{1, [](Stats& s) { return &s.cache.hits; }},
    Number{2, [](Stats& s) { return &s.cache.misses; }},
    Number{3, [](Stats& s) { return &s.cache.evictions; }},
    Number{4, [](Stats& s) { return &s.cache.blocks; }},
    Number{5, [](Stats& s) { return &s.cache.bytes; }},
    Number{6, [](Stats& s) { return &s.cache.capacity_bytes; }},
    Number{7, [](Stats& s) { return &s.journal.files; }},
    Number{8, [](Stats& s) { return &s.journal.bytes; }},
    Number{9, [](Stats& s) { return &s.journal.recycled_files; }},
    Number{10, [](Stats& s) { return &s.journal.records; }},
    Number{11, [](Stats& s) { return &s.journal.syncs; }},
    Number{12, [](Stats& s) { return &s.memory.budget; }},
    Number{13, [](Stats& s) { return &s.memory.used; }},
    Number{14, [](Stats& s) { return &s.memory.memtables; }},
    Number{15, [](Stats& s) { return &s.memory.blocks; }},
    Number{16, [](Stats& s) { return &s.memory.indexes; }},
    Number{17, [](Stats& s) { return &s.memory.filters; }},
    Number{18, [](Stats& s) { return &s.memory.journal; }},
    Number{19, [](Stats& s) { return &s.memory.transactions; }},
    Number{20, [](Stats& s) { return &s.memory.indexes_not_resident; }},
    Number{21, [](Stats& s) { return &s.memory.filters_not_resident; }},
    Number{22, [](Stats& s) { return &s.memory.metadata_loads; }},
    Number{23, [](Stats& s) { return &s.memory.lookups_without_filter; }},
    Number{24, [](Stats& s) { return &s.stalls.delayed_writes; }},
    Number{25, [](Stats& s) { return &s.stalls.delay_us; }},
    Number{26, [](Stats& s) { return &s.transactions.live; }},
    Number{27, [](Stats& s) { return &s.transactions.committed; }},
    Number{28, [](Stats& s) { return &s.transactions.conflicts; }},
    Number{29, [](Stats& s) { return &s.transactions.window_bytes; }},
    Number{30, [](Stats& s) { return &s.gets; }},
    Number{31, [](Stats& s) { return &s.gets_found; }},
    Number{32, [](Stats& s) { return &s.memtable_hits; }},
    Number{33, [](Stats& s) { return &s.writes; }},
    Number{34, [](Stats& s) { return &s.sequence; }},
    Number{35, [](Stats& s) { return &s.snapshots; }},
    Number{36, [](Stats& s) { return &s.expiry.tables_dropped; }},
    Number{37, [](Stats& s) { return &s.flushes; }},
    Number{38, [](Stats& s) { return &s.compactions; }},
    Number{39, [](Stats& s) { return &s.moves; }},
    Number{40, [](Stats& s) { return &s.bytes_written_by_users; }},
    Number{41, [](Stats& s) { return &s.bytes_written; }},
    Number{46, [](Stats& s) { return &s.compaction_backlog; }},
    Number{47, [](Stats& s) { return &s.stalls.longest_us; }},
    Number{48, [](Stats& s) { return &s.cache.index_hits; }},
    Number{49, [](Stats& s) { return &s.cache.index_misses; }},
    Number{56, [](Stats& s) { return &s.memory.filter_plans; }},
    Number{57, [](Stats& s) { return &s.memory.filter_bytes_loaded; }},
};
/// A file has its fields by ascending tags: numbers before the texts, between levels and latencies, and at the end.
constexpr std::uint32_t kFirstText = 42;
constexpr std::uint32_t kFirstLatency = 50;
struct Text {
  std::uint32_t tag;
  std::string* (*in)(Stats& stats);
};
constexpr Text kTexts[] = {
    Text{42, [](Stats& s) { return &s.cache.policy; }},
    Text{43, [](Stats& s) { return &s.stalls.reason; }},
    Text{44, [](Stats& s) { return &s.background_error; }},
};
/// Five varints for each level from 0: probes, negatives, false positives, hits, blocks read.
constexpr std::uint32_t kLevels = 45;
constexpr std::uint64_t Stats::Level::*kLevelCounts[] = {&Stats::Level::probes, &Stats::Level::negatives,
                                                         &Stats::Level::false_positives, &Stats::Level::hits,
                                                         &Stats::Level::blocks_read};
static_assert(64 + std::size(kNumbers) * 10 + std::size(kTexts) * (kMaxTextBytes + 3) +
                  kMaxLevels * std::size(kLevelCounts) * kMaxVarintBytes + 4 + 1 + 8 <=
              kCountersBytes);

/// Varints: sum, four quantiles, maximum, then the buckets up to the last that is not empty.
struct LatencyField {
  std::uint32_t tag;
  Stats::Latency Stats::Latencies::*in;
};
constexpr LatencyField kLatencies[] = {{50, &Stats::Latencies::get},   {51, &Stats::Latencies::put},
                                       {52, &Stats::Latencies::scan},  {53, &Stats::Latencies::sync},
                                       {54, &Stats::Latencies::flush}, {55, &Stats::Latencies::compaction}};
constexpr std::uint64_t Stats::Latency::*kLatencyNumbers[] = {&Stats::Latency::sum_ns,  &Stats::Latency::p50_ns,
                                                              &Stats::Latency::p90_ns,  &Stats::Latency::p99_ns,
                                                              &Stats::Latency::p999_ns, &Stats::Latency::max_ns};

/// Its tag and length; the numbers behind the latencies; the end of the fields; the checksum.
constexpr std::size_t kMostAroundLatency = 4 + 2 * 10 + 1 + 8;

std::string encode_latency(const Stats::Latency& latency) {
  std::string bytes;
  if (latency.count == 0) return bytes;
  for (const auto number : kLatencyNumbers) append_varint(bytes, latency.*number);
  std::size_t end = latency.buckets.size();
  while (end > 0 && latency.buckets[end - 1] == 0) --end;
  for (std::size_t i = 0; i < end; ++i) append_varint(bytes, latency.buckets[i]);
  return bytes;
}

/// What a later build adds behind is passed over.
Status decode_latency(const TaggedField& field, std::string_view name, Stats::Latency& latency) {
  ByteReader reader(field.value, name);
  if (reader.at_end()) return {};
  for (const auto number : kLatencyNumbers) {
    TAMIS_TRY(latency.*number, reader.read_varint("a latency"));
  }
  for (std::size_t i = 0; i < latency.buckets.size() && !reader.at_end(); ++i) {
    TAMIS_TRY(latency.buckets[i], reader.read_varint("a count of latencies"));
    latency.count += latency.buckets[i];
  }
  return {};
}

std::string encode_levels(const std::vector<Stats::Level>& levels) {
  std::string bytes;
  for (std::size_t i = 0; i < std::min(levels.size(), kMaxLevels); ++i) {
    for (const auto count : kLevelCounts) append_varint(bytes, levels[i].*count);
  }
  return bytes;
}

Status decode_levels(const TaggedField& field, std::string_view name, std::vector<Stats::Level>& levels) {
  ByteReader reader(field.value, name);
  while (!reader.at_end()) {
    if (levels.size() == kMaxLevels) return reader.corruption("too many levels");
    Stats::Level& level = levels.emplace_back();
    level.level = static_cast<std::uint32_t>(levels.size() - 1);
    for (const auto count : kLevelCounts) {
      TAMIS_TRY(level.*count, reader.read_varint("a level's count"));
    }
  }
  return {};
}

Status decode_field(const TaggedField& field, const ByteReader& reader, std::string_view name, Stats& stats) {
  for (const Number& number : kNumbers) {
    if (number.tag != field.tag) continue;
    if (field.value.size() != 8) return reader.corruption(fmt::format("field {} is not a number", field.tag));
    *number.in(stats) = load_le<std::uint64_t>(field.value.data());
    return {};
  }
  for (const Text& text : kTexts) {
    if (text.tag != field.tag) continue;
    if (field.value.size() > kMaxTextBytes) return reader.corruption(fmt::format("field {} is too long", field.tag));
    *text.in(stats) = as_text(field.value);
    return {};
  }
  for (const LatencyField& latency : kLatencies) {
    if (latency.tag == field.tag) return decode_latency(field, name, stats.latencies.*latency.in);
  }
  if (field.tag == kLevels) return decode_levels(field, name, stats.levels);
  return TaggedFields::pass_over(field, name);
}

}  // namespace

CountersBytes encode_counters(const PublishedCounters& counters) {
  Stats stats = counters.stats;
  std::string raw;
  append_file_header(raw, kHeaderFormat, {.kind = kCountersFileKind});
  raw.append(as_text(counters.store_id));
  append_le(raw, counters.process_id);
  append_le(raw, counters.unix_milliseconds);
  const auto append_numbers = [&](std::uint32_t from, std::uint32_t to) {
    for (const Number& number : kNumbers) {
      if (number.tag < from || number.tag >= to) continue;
      append_number_field(raw, number.tag, FieldNeed::kOptional, *number.in(stats));
    }
  };
  append_numbers(0, kFirstText);
  for (const Text& text : kTexts) {
    append_field(raw, text.tag, FieldNeed::kOptional, std::string_view(*text.in(stats)).substr(0, kMaxTextBytes));
  }
  append_field(raw, kLevels, FieldNeed::kOptional, encode_levels(stats.levels));
  append_numbers(kLevels, kFirstLatency);
  for (const LatencyField& latency : kLatencies) {
    const std::string bytes = encode_latency(stats.latencies.*latency.in);
    if (raw.size() + bytes.size() + kMostAroundLatency <= kCountersBytes) {
      append_field(raw, latency.tag, FieldNeed::kOptional, bytes);
    }
  }
  append_numbers(kFirstLatency, ~std::uint32_t{0});
  append_fields_end(raw);
  return sealed_file_header<kCountersBytes>(raw);
}

Result<PublishedCounters> decode_counters(Bytes bytes, std::string_view name) {
  TAMIS_TRY(FileHeaderFields start, read_file_header(bytes, kHeaderFormat, name));
  ByteReader& reader = start.fields;
  if (start.header.kind != kCountersFileKind) {
    return reader.corruption(fmt::format("unknown file kind {}", start.header.kind));
  }
  PublishedCounters counters;
  TAMIS_TRY(const Bytes store_id, reader.read(counters.store_id.size(), "store id"));
  std::ranges::copy(store_id, counters.store_id.begin());
  TAMIS_TRY(counters.process_id, reader.read_le<std::uint64_t>("process id"));
  TAMIS_TRY(counters.unix_milliseconds, reader.read_le<std::uint64_t>("time"));
  TaggedFields fields(reader);
  while (true) {
    TAMIS_TRY(const std::optional<TaggedField> field, fields.next());
    if (!field) break;
    TAMIS_TRY_STATUS(decode_field(*field, reader, name, counters.stats));
  }
  Stats& stats = counters.stats;
  if (stats.bytes_written_by_users > 0) {
    stats.write_amplification =
        static_cast<double>(stats.bytes_written) / static_cast<double>(stats.bytes_written_by_users);
  }
  return counters;
}

}  // namespace tamis
