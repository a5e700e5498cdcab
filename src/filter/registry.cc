// One line per kind. Ids are stored in files and never reused:
// 1 bloom, 2 line, 3 ribbon, 4 fuse, 5 split, 6 cuckoo, 7 counting, 8 scalable, 9 sliced, 10 growing.
#include <array>

#include "filter/filter_kind.h"

namespace tamis {
namespace {

constexpr std::array kKinds = {
    &kLineKind,      //
    &kRibbonKind,    //
    &kFuseKind,      //
    &kBloomKind,     //
    &kSplitKind,     //
    &kCuckooKind,    //
    &kCountingKind,  //
    &kScalableKind,  //
    &kSlicedKind,    //
    &kGrowingKind,   //
};

}  // namespace

std::span<const FilterKind* const> all_filter_kinds() { return kKinds; }

std::span<const FilterKindInfo> filter_kinds() {
  static const std::array infos = [] {
    std::array<FilterKindInfo, kKinds.size()> all = {};
    for (std::size_t i = 0; i < kKinds.size(); ++i) all[i] = kKinds[i]->info;
    return all;
  }();
  return infos;
}

const FilterKind* find_filter_kind(std::string_view name) {
  for (const FilterKind* kind : kKinds) {
    if (kind->info.name == name) return kind;
  }
  return nullptr;
}

const FilterKind* find_filter_kind(std::uint8_t id) {
  for (const FilterKind* kind : kKinds) {
    if (kind->info.id == id) return kind;
  }
  return nullptr;
}

}  // namespace tamis
