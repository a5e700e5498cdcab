#include "model/option_sets.h"

#include <algorithm>

#include "base/try.h"
#include "compaction/policy.h"
#include "table/codec.h"
#include "tamis/filter.h"

namespace tamis::test {
namespace {

std::vector<std::string> filter_words() {
  std::vector<std::string> words = {"auto", "none"};
  for (const FilterKindInfo& kind : filter_kinds()) words.emplace_back(kind.name);
  return words;
}

template <typename List>
auto one_of(const List& list, std::uint64_t draw) {
  return list[draw % list.size()];
}

/// `draw` picks each option: a random number, or one that counts through the choices.
template <typename Draw>
Options make_options(Draw draw) {
  constexpr std::uint64_t kKiB = 1024;
  const std::vector<std::uint64_t> memory = {320 * kKiB, 384 * kKiB, 1024 * kKiB, 16 * 1024 * kKiB};
  const std::vector<std::uint64_t> memtable = {64 * kKiB, 64 * kKiB, 100 * kKiB};
  const std::vector<std::uint64_t> table = {8 * kKiB, 20 * kKiB, 64 * kKiB, 1024 * kKiB};
  const std::vector<std::uint32_t> block = {1024, 4096, 60 * 1024};
  const std::vector<std::uint32_t> fanout = {2, 3, 4, 10};
  const std::vector<std::optional<std::uint64_t>> filter_memory = {{}, {}, 0, 500, 20'000};
  using enum PrefixRule::Kind;
  const std::vector<PrefixRule> rules = {{}, {kFirst, 1}, {kUntil, ':'}, {kFirst, 4}, {kUntil, 0}};
  const std::vector<std::uint32_t> range_bits = {0, 16, 8, 32};
  const std::vector<std::uint64_t> apart = {0, 16, 0, 200, 1};
  const std::vector<std::uint32_t> threads = {4, 2, 6, 1};
  Options options;
  options.compaction = one_of(compaction_policies(), draw()).name;
  options.codec = one_of(codecs(), draw()).name;
  options.codec_last = one_of(codecs(), draw()).name;
  options.filter = one_of(filter_words(), draw());
  options.memory_bytes = one_of(memory, draw());
  options.memtable_bytes = one_of(memtable, draw());
  options.table_bytes = one_of(table, draw());
  options.block_bytes = one_of(block, draw());
  options.fanout = one_of(fanout, draw());
  options.filter_memory = one_of(filter_memory, draw());
  options.prefix_rule = one_of(rules, draw());
  options.value_bytes_apart = one_of(apart, draw());
  options.background_threads = one_of(threads, draw());
  options.direct_reads = draw() % 2 != 0;
  options.range_filter_bits = one_of(range_bits, draw());
  return options;
}

}  // namespace

Options draw_options(SplitMix64& random) {
  return make_options([&] { return random.next() >> 8; });
}

KeyspaceOptions draw_keyspace_options(std::uint32_t seed) {
  KeyspaceOptions options;
  if (seed == 0) return options;
  SplitMix64 random(seed);
  const Options drawn = draw_options(random);
  const auto take = [&](auto& to, const auto& from) {
    if (random.coin()) to = from;
  };
  take(options.block_bytes, drawn.block_bytes);
  take(options.table_bytes, drawn.table_bytes);
  take(options.codec, drawn.codec);
  take(options.codec_last, drawn.codec_last);
  take(options.filter, drawn.filter);
  take(options.prefix_rule, drawn.prefix_rule);
  take(options.range_filter_bits, drawn.range_filter_bits);
  take(options.compaction, drawn.compaction);
  take(options.fanout, drawn.fanout);
  take(options.value_bytes_apart, drawn.value_bytes_apart);
  return options;
}

std::vector<Options> spread_options(std::size_t count, std::uint64_t seed) {
  const std::vector<std::string> filters = filter_words();
  SplitMix64 random(seed);
  std::vector<Options> sets;
  for (std::size_t i = 0; i < count; ++i) {
    sets.push_back(draw_options(random));
    sets.back().filter = filters[i % filters.size()];
  }
  return sets;
}

std::string to_text(const Options& options) {
  std::string text;
  for (const OptionInfo& option : option_table()) {
    if (!text.empty()) text += ' ';
    text += std::string(option.name) + "=" + get_option(options, option.name);
  }
  return text;
}

Result<Options> parse_options(std::string_view line) {
  Options options;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::string_view word = line.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = std::min(word.find('='), word.size());
    TAMIS_TRY_STATUS(set_option(options, word.substr(0, equals), word.substr(std::min(equals + 1, word.size()))));
  }
  return options;
}

}  // namespace tamis::test
