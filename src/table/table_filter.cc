#include "table/table_filter.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/try.h"
#include "table/table_sections.h"

namespace tamis {

/// False: no memory.
bool TableFilter::hold_copy(const HeldSlices& of, std::uint64_t columns) {
  const auto wanted = static_cast<std::uint32_t>(columns);
  bytes_ = AlignedBytes::unset(of.bytes_of_copy(wanted));
  if (bytes_.size() == 0) return false;
  slices_ = of.copy(wanted, bytes_.span());
  probe_ = slices_->probe();
  return true;
}

TableFilter::Reading TableFilter::read(const ReadableFile& file, const TableProperties& properties,
                                       std::uint64_t columns, Charge charge, const TableFilter* before,
                                       std::string_view name) {
  Reading reading;
  const std::shared_ptr<TableFilter> filter(new TableFilter(std::move(charge)));
  reading.problem = properties.facts.filter_slices
                        ? filter->read_slices(file, properties, columns, before, name, reading)
                        : filter->read_whole(file, properties, name, reading);
  if (filter->whole_ || filter->slices_) reading.filter = filter;
  return reading;
}

Status TableFilter::read_whole(const ReadableFile& file, const TableProperties& properties, std::string_view name,
                               Reading& reading) {
  reading.bytes_read = properties.filter.bytes;
  TAMIS_TRY(whole_, read_filter(file, properties, name));
  probe_ = whole_->probe();
  return {};
}

Status TableFilter::read_slices(const ReadableFile& file, const TableProperties& properties, std::uint64_t columns,
                                const TableFilter* before, std::string_view name, Reading& reading) {
  FilterImage first;
  std::vector<AlignedBytes> next;
  std::optional<HeldSlices> held;
  if (before != nullptr && before->columns() % kSliceColumns == 0) {
    held = before->slices_;
  } else {
    reading.bytes_read = properties.facts.first_filter_bytes();
    TAMIS_TRY(held, read_first_slice(file, properties, first, name));
  }
  Status status = read_next_slices(file, properties, columns, *held, next, name);
  for (const AlignedBytes& slice : next) reading.bytes_read += slice.size();
  if (!status.ok() && status.code() != StatusCode::kCorruption) return status;  // It may work next time.
  if (!hold_copy(*held, std::min<std::uint64_t>(columns, held->columns()))) {
    return Status::out_of_space(fmt::format("{}: no memory for its filter", name));
  }
  charge_.shrink_to(properties.facts.filter_bytes_with(this->columns()));
  return status;
}

std::shared_ptr<const TableFilter> TableFilter::with_fewer(std::uint64_t columns, Charge charge) const {
  const std::shared_ptr<TableFilter> filter(new TableFilter(std::move(charge)));
  return filter->hold_copy(*slices_, columns) ? filter : nullptr;
}

}  // namespace tamis
