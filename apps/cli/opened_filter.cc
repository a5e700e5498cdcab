#include "opened_filter.h"

#include "error.h"
#include "files.h"

namespace tamis::cli {
namespace {

Filter open_own(const std::string& path) {
  if (path != "-") return need(Filter::open(path));
  const std::string bytes = read_whole(path);
  return need(Filter::from_bytes(std::as_bytes(std::span(bytes)), "standard input"));
}

}  // namespace

OpenedFilter::OpenedFilter(const std::string& path) : filter_(open_own(path)) {}

bool OpenedFilter::may_contain(std::string_view key) const { return filter_.may_contain(key); }
FilterFacts OpenedFilter::facts() const { return facts_of(filter_.info()); }

}  // namespace tamis::cli
