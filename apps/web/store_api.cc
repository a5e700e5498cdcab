#include "web/store_api.h"

#include <cstddef>
#include <exception>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/bytes_text.h"
#include "cli/error.h"
#include "cli/numbers.h"
#include "cli/store/common.h"
#include "cli/store/stats.h"
#include "tamis/filter.h"
#include "tamis/version.h"
#include "text/json.h"
#include "web/filter_lab.h"

namespace tamis::web {
namespace {

/// Keys may have megabytes; the page shows their beginning. A cut character makes them hexadecimal.
constexpr std::size_t kShownKeyBytes = 48;

JsonObject error_json(std::string_view message) { return JsonObject().add("error", message); }

/// The page draws as wide as the bytes, and as dark as the questions.
JsonObject table_json(const PlanReport::Table& table) {
  return JsonObject()
      .add("table", table.table)
      .add("level", table.level)
      .add("run", table.run)
      .add("keys", table.keys)
      .add("bytes", table.bytes)
      .add_bytes("smallest_key", std::string_view(table.smallest_key).substr(0, kShownKeyBytes))
      .add_bytes("largest_key", std::string_view(table.largest_key).substr(0, kShownKeyBytes))
      .add("kind", table.kind)
      .add("columns", table.columns)
      .add("stored_columns", table.stored_columns)
      .add("first_bytes", table.first_bytes)
      .add("column_bytes", table.column_bytes)
      .add("fpr", table.rate)
      .add("fpr_stored", table.stored_rate)
      .add("asked_in_vain", table.asked_in_vain);
}

JsonObject kind_json(const FilterKindInfo& kind) {
  return JsonObject().add("kind", kind.name).add("adds", kind.adds).add("summary", kind.summary);
}

}  // namespace

Answer StoreApi::answer(const std::string& path, const Parameters& parameters) {
  try {
    const Result<std::uint64_t> caught_up = db_.catch_up();
    if (!caught_up.ok() && caught_up.status().code() != StatusCode::kStale) cli::need(caught_up.status());
    std::string body = body_of(path, parameters);
    if (body.empty()) return {.status = 404, .body = error_json("there is no " + path).text()};
    return {.body = std::move(body)};
  } catch (const cli::CommandError& error) {
    return {.status = error.exit_status() == cli::kExitUsage ? 400 : 500, .body = error_json(error.what()).text()};
  } catch (const std::exception& error) {
    return {.status = 500, .body = error_json(error.what()).text()};
  }
}

/// Empty if there is no such path.
std::string StoreApi::body_of(const std::string& path, const Parameters& parameters) {
  if (path == "/api/about") return about();
  if (path == "/api/stats") return stats();
  if (path == "/api/tree") return tree();
  if (path == "/api/plan") return plan(parameters);
  if (path == "/api/explain") return explain(parameters);
  if (path == "/api/filter-lab") return filter_lab(parameters);
  return {};
}

std::string StoreApi::about() const {
  return JsonObject()
      .add_bytes("store", name_)
      .add("version", version())
      .add_list("filter_kinds", filter_kinds(), kind_json)
      .text();
}

std::string StoreApi::stats() const {
  const std::optional<WriterStats> writer = db_.writer_stats();
  return cli::stats_json(writer ? writer->stats : db_.stats(), db_.keyspaces(), writer).text();
}

std::string StoreApi::tree() const { return JsonObject().add_list("tables", db_.plan().tables, table_json).text(); }

std::string StoreApi::plan(const Parameters& parameters) const {
  std::optional<std::uint64_t> memory;
  if (const auto given = find_parameter(parameters, "filter_memory")) {
    memory = cli::parse_bytes("filter_memory", *given);
  }
  return db_.plan(memory).to_json();
}

std::string StoreApi::explain(const Parameters& parameters) {
  std::string key(find_parameter(parameters, "key").value_or(""));
  const bool in_hex = find_parameter(parameters, "hex").has_value();
  if (std::string bytes; in_hex) {
    if (!cli::from_hex(key, bytes)) cli::usage_error("the key is not hexadecimal: two digits per byte");
    key = std::move(bytes);
  }
  const std::string_view name = find_parameter(parameters, "keyspace").value_or("default");
  if (cli::find_keyspace(db_.keyspaces(), name) == nullptr) {
    cli::usage_error("there is no keyspace " + cli::quoted(name));
  }
  return cli::need(cli::need(db_.keyspace(name)).explain(key)).to_json(in_hex);
}

}  // namespace tamis::web
