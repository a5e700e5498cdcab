// tamis filter size: the sizes of all kinds, before building.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/filter/size_options.h"
#include "cli/numbers.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "tamis/filter.h"

namespace tamis::cli {
namespace {

struct KindSize {
  std::string_view kind;
  Result<FilterSize> size;
};

JsonObject as_json(const KindSize& row) {
  JsonObject object;
  object.add("kind", row.kind);
  if (row.size.ok()) {
    object.add("bits_per_key", row.size->bits_per_key()).add("hashes", row.size->hashes).add("bytes", row.size->bytes);
    object.add("fpr", row.size->rate).add("bound_ratio", row.size->bound_ratio());
  } else {
    for (const char* field : {"bits_per_key", "hashes", "bytes", "fpr", "bound_ratio"}) object.add(field, nullptr);
    object.add("note", row.size.status().message());
  }
  return object;
}

std::vector<std::string> as_cells(const KindSize& row) {
  if (!row.size.ok()) return {std::string(row.kind), "-", "-", "-", "-", "-", "-"};
  const FilterSize& size = *row.size;
  return {std::string(row.kind),
          fmt::format("{:.2f}", size.bits_per_key()),
          std::to_string(size.hashes),
          with_thousands(size.bytes),
          human_bytes(size.bytes),
          human_rate(size.rate),
          fmt::format("{:.3f}", size.bound_ratio())};
}

void print_table(const std::vector<KindSize>& rows) {
  Table table({{"kind", Table::Align::kLeft}, {"bits/key"}, {"k"}, {"bytes"}, {""}, {"predicted"}, {"x bound"}});
  for (const KindSize& row : rows) table.add(as_cells(row));
  Output& out = standard_output();
  out.write(table.text());
  out.write(
      "\nk: hashes per key, or bits per fingerprint.\n"
      "x bound: bits/key relative to log2(1/rate), the minimum for any filter.\n");
  for (const KindSize& row : rows) {
    if (!row.size.ok()) out.print("{}\n", row.size.status().message());
  }
}

}  // namespace

int run_filter_size(Arguments arguments) {
  std::optional<std::uint64_t> keys;
  std::string kind;
  SizeOptions size;
  CommandLine line({.summary = "Computes the size of a filter, for all kinds side by side or for one.",
                    .usage = "--keys N [--fpr P | --bits-per-key B | --memory BYTES] [--kind K]",
                    .example = "  tamis filter size --keys 1000000 --fpr 0.01",
                    .common = kJson});
  line.option("--keys", "N", "number of keys", keys, parse_count);
  size.declare(line);
  line.option("--kind", "K", "only this kind; 'tamis filter kinds' lists them", kind);
  if (!line.read(arguments)) return kExitOk;
  line.need_all({"--keys"});
  size.check(line);
  const SizeTarget target = size.target();

  std::vector<KindSize> rows;
  if (!kind.empty()) {
    rows.push_back({kind, need(filter_size(kind, *keys, target))});
  } else {
    for (const FilterKindInfo& info : filter_kinds()) {
      rows.push_back({info.name, filter_size(info.name, *keys, target)});
    }
  }
  // If no kind can do it (too many keys, say), that is an error, not a table of dashes.
  if (std::ranges::none_of(rows, [](const KindSize& row) { return row.size.ok(); })) need(rows.front().size);
  if (!line.common().json) {
    print_table(rows);
    const std::string hint = hint_of_smaller_kind(kind, *keys, target);
    if (!hint.empty()) standard_output().print("{}\n", hint);
    return kExitOk;
  }
  for (const KindSize& row : rows) standard_output().write(as_json(row).line());
  return kExitOk;
}

}  // namespace tamis::cli
