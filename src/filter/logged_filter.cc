#include "filter/logged_filter.h"

#include <fmt/core.h>

#include <utility>

#include "base/try.h"
#include "filter/filter_format.h"
#include "filter/filter_log_format.h"
#include "filter/open_filter.h"

namespace tamis {
namespace {

Status replay(MutableFilter& filter, const FilterLogRecord& record) {
  for (const std::uint64_t hash : record.hashes) {
    if (record.change == FilterChange::kAdd) {
      TAMIS_TRY_STATUS(filter.add_hash(hash));
    } else {
      TAMIS_TRY_STATUS(filter.remove_hash(hash).status());
    }
  }
  return {};
}

}  // namespace

Result<LoggedFilter> open_logged_filter(Bytes file, std::string_view name) {
  TAMIS_TRY(const std::uint64_t bytes, announced_filter_bytes(file, name));
  if (bytes > file.size()) {
    return Status::corruption(
        fmt::format("{}: the header announces a filter of {} bytes, the file has {}", name, bytes, file.size()));
  }
  TAMIS_TRY(FilterImage image, FilterImage::decode(file.first(bytes), name));
  LoggedFilter logged = {.seed = filter_checksum(file), .log_begin = bytes};
  TAMIS_TRY(logged.filter, open_mutable_filter(std::move(image), name));
  FilterLogReader log(file, bytes, logged.seed, name);
  for (;;) {
    TAMIS_TRY(const std::optional<FilterLogRecord> record, log.next());
    if (!record) break;
    if (const Status replayed = replay(logged.filter, *record); !replayed.ok()) {
      return Status::corruption(
          fmt::format("{}: a change before offset {} cannot be made again: {}", name, log.end(), replayed.message()));
    }
  }
  logged.log_end = log.end();
  logged.is_torn = log.is_torn();
  return logged;
}

}  // namespace tamis
