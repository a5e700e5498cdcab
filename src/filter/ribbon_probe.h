// The probe of the ribbon filter, one body per instruction set. See ribbon.cc for the layout.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "filter/ribbon_layout.h"
#include "tamis/filter.h"

namespace tamis {

/// A filter's shape and the location of its parts, for a probe.
struct RibbonState {
  const std::byte* blocks;
  const std::byte* marks;  // Unaligned, like the list.
  const std::byte* list;
  std::array<std::uint64_t, kRibbonLayers> starts;
  std::array<std::uint64_t, kRibbonLayers> first_row;
  std::array<std::uint64_t, kRibbonLayers> first_bucket;
  std::uint64_t full_blocks;
  std::uint64_t list_entries;
  std::uint32_t list_bits;
  std::uint32_t columns;
  std::uint32_t cut_bytes;
};

/// Sets the functions for this machine and this state, which must be filled in.
void choose_ribbon_functions(FilterProbe& probe);

}  // namespace tamis
