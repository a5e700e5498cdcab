#include "engine/keyspace_options.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/try.h"

namespace tamis {
namespace {

/// One option that both structs have under the same name.
struct Row {
  std::string_view name;
  /// Copies it if it is set; returns whether it was.
  bool (*apply)(const KeyspaceOptions& from, Options& to);
  void (*take)(const Options& from, KeyspaceOptions& to);
  void (*overlay)(const KeyspaceOptions& from, KeyspaceOptions& to);
};

template <auto kOwn, auto kStores>
constexpr Row row(std::string_view name) {
  return {.name = name,
          .apply =
              [](const KeyspaceOptions& from, Options& to) {
                if (from.*kOwn) to.*kStores = *(from.*kOwn);
                return (from.*kOwn).has_value();
              },
          .take = [](const Options& from, KeyspaceOptions& to) { to.*kOwn = from.*kStores; },
          .overlay =
              [](const KeyspaceOptions& from, KeyspaceOptions& to) {
                if (from.*kOwn) to.*kOwn = from.*kOwn;
              }};
}

constexpr Row kRows[] = {
    row<&KeyspaceOptions::block_bytes, &Options::block_bytes>("block_bytes"),
    row<&KeyspaceOptions::table_bytes, &Options::table_bytes>("table_bytes"),
    row<&KeyspaceOptions::codec, &Options::codec>("codec"),
    row<&KeyspaceOptions::codec_last, &Options::codec_last>("codec_last"),
    row<&KeyspaceOptions::filter, &Options::filter>("filter"),
    row<&KeyspaceOptions::prefix_rule, &Options::prefix_rule>("prefix_rule"),
    row<&KeyspaceOptions::range_filter_bits, &Options::range_filter_bits>("range_filter_bits"),
    row<&KeyspaceOptions::compaction, &Options::compaction>("compaction"),
    row<&KeyspaceOptions::value_bytes_apart, &Options::value_bytes_apart>("value_bytes_apart"),
    row<&KeyspaceOptions::fanout, &Options::fanout>("fanout"),
    row<&KeyspaceOptions::default_expiry, &Options::default_expiry>("default_expiry"),
    row<&KeyspaceOptions::merge_operator, &Options::merge_operator>("merge_operator"),
};

const Row* find_row(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

std::string keyspace_options_text(const KeyspaceOptions& options) {
  std::string text;
  for (const Row& row : kRows) {
    Options applied;
    if (row.apply(options, applied)) text += fmt::format("{}={}\n", row.name, get_option(applied, row.name));
  }
  return text;
}

Result<KeyspaceOptions> parse_keyspace_options(std::string_view text) {
  KeyspaceOptions options;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t equals = std::min(line.find('='), line.size());
    const std::string_view name = line.substr(0, equals);
    if (find_row(name) == nullptr) {
      return Status::not_supported(fmt::format("the keyspace option '{}' is not known to this build", name));
    }
    TAMIS_TRY_STATUS(set_keyspace_option(options, name, line.substr(std::min(equals + 1, line.size()))));
  }
  return options;
}

KeyspaceOptions with_options(KeyspaceOptions base, const KeyspaceOptions& more) {
  for (const Row& row : kRows) row.overlay(more, base);
  return base;
}

Options options_for(const Options& store, const KeyspaceOptions& keyspace) {
  Options options = store;
  for (const Row& row : kRows) (void)row.apply(keyspace, options);
  return options;
}

Status check_keyspace_options(const KeyspaceOptions& options) { return check_options(options_for({}, options)); }

Status set_keyspace_option(KeyspaceOptions& options, std::string_view name, std::string_view value) {
  Options set;
  TAMIS_TRY_STATUS(set_option(set, name, value));
  if (const Row* const row = find_row(name)) {
    row->take(set, options);
    return {};
  }
  std::vector<std::string_view> names;
  for (const Row& row : kRows) names.push_back(row.name);
  return Status::invalid_argument(
      fmt::format("option {} applies to the whole store; a keyspace has {}", name, fmt::join(names, ", ")));
}

}  // namespace tamis
