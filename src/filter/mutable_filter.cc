#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "filter/logged_filter.h"
#include "filter/open_filter.h"
#include "filter/sizing.h"
#include "io/file.h"
#include "tamis/filter.h"

namespace tamis {
namespace {

const FilterKind& kind_of(const FilterImage& image) {
  const FilterKind* kind = find_filter_kind(image.header.kind);
  TAMIS_CHECK(kind != nullptr);
  return *kind;
}

Status cannot(const FilterKind& kind, std::string_view verb, bool FilterKindInfo::*capability) {
  std::string able;
  for (const FilterKindInfo& info : filter_kinds()) {
    if (info.*capability) able += fmt::format("{}{}", able.empty() ? "" : ", ", info.name);
  }
  return Status::not_supported(fmt::format("a {} filter cannot {}; these kinds can: {}", kind.info.name, verb, able));
}

/// Filters can be joined if their kind can, and a key sets the same bits in both.
Status need_joinable(const OpenFilter* left, const OpenFilter* right, std::string_view verb,
                     bool FilterKindInfo::*capability) {
  if (left == nullptr || right == nullptr) return no_filter();
  const FilterKind& kind = kind_of(left->image);
  if (!(kind.info.*capability)) return cannot(kind, verb, capability);
  const auto differ = [](std::string_view what) {
    return Status::invalid_argument(fmt::format(
        "the filters cannot be joined: they differ in {}; build them with the same kind, size and seed", what));
  };
  const FilterHeader& a = left->image.header;
  const FilterHeader& b = right->image.header;
  if (a.kind != b.kind) return differ("kind");
  if (!(a.seed == b.seed)) return differ("seed");
  if (!(a.prefix_rule == b.prefix_rule)) return differ("prefix rule");
  const bool same_size = left->image.body().size() == right->image.body().size();
  if (a.layout != b.layout || a.hashes != b.hashes || a.numbers != b.numbers || !same_size) return differ("size");
  return {};
}

}  // namespace

MutableFilter::MutableFilter(std::unique_ptr<OpenFilter> open) : probe_(open->probe), open_(std::move(open)) {}
MutableFilter::MutableFilter() noexcept = default;
MutableFilter::MutableFilter(MutableFilter&& other) noexcept
    : probe_(std::exchange(other.probe_, {})), open_(std::move(other.open_)) {}
MutableFilter& MutableFilter::operator=(MutableFilter&& other) noexcept {
  MutableFilter taken(std::move(other));
  std::swap(probe_, taken.probe_);
  std::swap(open_, taken.open_);
  return *this;
}
MutableFilter::~MutableFilter() = default;

Result<MutableFilter> open_mutable_filter(FilterImage image, std::string_view name) {
  if (image.header.layout == FilterLayout::kList) {
    return Status::invalid_argument(std::string(name) + ": a list of hashes cannot be changed; build a new one");
  }
  auto open = std::make_unique<OpenFilter>(std::move(image));
  TAMIS_TRY(open->probe, open_probe(open->image, name));
  const FilterKind& kind = kind_of(open->image);
  if (kind.make == nullptr) return cannot(kind, "be changed", &FilterKindInfo::adds);
  return MutableFilter(std::move(open));
}

Result<MutableFilter> MutableFilter::create(const FilterOptions& options) {
  TAMIS_TRY(const FilterKind* kind, need_filter_kind(options.kind));
  if (kind->make == nullptr) return cannot(*kind, "be changed", &FilterKindInfo::adds);
  TAMIS_TRY(FilterImage image, make_empty_filter(*kind, options));
  return open_mutable_filter(std::move(image), "a filter just made");
}

Result<MutableFilter> MutableFilter::open(const std::string& path) {
  TAMIS_TRY(const MappedFile file, MappedFile::open(path));
  return from_bytes(file.bytes(), path);
}

Result<MutableFilter> MutableFilter::from_bytes(std::span<const std::byte> bytes, std::string_view name) {
  if (has_filter_log(bytes)) {
    TAMIS_TRY(LoggedFilter logged, open_logged_filter(bytes, name));
    return std::move(logged.filter);
  }
  TAMIS_TRY(FilterImage image, FilterImage::decode(bytes, name));
  return open_mutable_filter(std::move(image), name);
}

void MutableFilter::follow_moved_bytes(const std::byte* before) {
  if (open_->image.body().data() == before) return;
  Result<FilterProbe> probe = open_probe(open_->image, "a filter in memory");
  TAMIS_CHECK(probe.ok());
  open_->probe = *probe;
  probe_ = *probe;
}

Status MutableFilter::add_hash(std::uint64_t hash) {
  if (open_ == nullptr) return no_filter();
  FilterImage& image = open_->image;
  const FilterKind& kind = kind_of(image);
  const std::byte* before = image.body().data();
  TAMIS_TRY_STATUS(kind.add(image, hash));
  ++image.header.keys;
  follow_moved_bytes(before);
  return {};
}

Result<bool> MutableFilter::remove_hash(std::uint64_t hash) {
  if (open_ == nullptr) return no_filter();
  FilterImage& image = open_->image;
  const FilterKind& kind = kind_of(image);
  if (kind.remove == nullptr) return cannot(kind, "remove keys", &FilterKindInfo::removes);
  const Removal removed = kind.remove(image, hash);
  if (removed == Removal::kGone && image.header.keys > 0) --image.header.keys;
  return removed != Removal::kAbsent;
}

std::uint64_t MutableFilter::count_hash(std::uint64_t hash) const {
  if (open_ != nullptr && kind_of(open_->image).count != nullptr)
    return kind_of(open_->image).count(open_->image, hash);
  return may_contain_hash(hash) ? 1 : 0;
}

Status MutableFilter::merge(const MutableFilter& other) {
  TAMIS_TRY_STATUS(need_joinable(open_.get(), other.open_.get(), "be united", &FilterKindInfo::merges));
  FilterImage& image = open_->image;
  const FilterImage& from = other.open_->image;
  const std::byte* before = image.body().data();
  TAMIS_TRY_STATUS(kind_of(image).merge(image, from));
  image.header.keys += from.header.keys;
  follow_moved_bytes(before);
  return {};
}

Status MutableFilter::intersect(const MutableFilter& other) {
  TAMIS_TRY_STATUS(need_joinable(open_.get(), other.open_.get(), "be intersected", &FilterKindInfo::intersects));
  FilterImage& image = open_->image;
  const FilterImage& from = other.open_->image;
  TAMIS_TRY_STATUS(kind_of(image).intersect(image, from));
  image.header.keys = std::min(image.header.keys, from.header.keys);
  return {};
}

void MutableFilter::clear() {
  if (open_ == nullptr) return;
  FilterImage& image = open_->image;
  const std::byte* before = image.body().data();
  if (const FilterKind& kind = kind_of(image); kind.clear != nullptr) {
    kind.clear(image);
  } else {
    const MutableBytes body = image.mutable_body();
    std::fill(body.begin(), body.end(), std::byte{0});
  }
  image.header.keys = 0;
  follow_moved_bytes(before);
}

std::uint64_t MutableFilter::hash(std::string_view key) const {
  if (open_ == nullptr) return 0;
  return open_->hasher(open_->image.header.prefix_rule.prefix_of(key));
}

FilterInfo MutableFilter::info() const { return info_of(open_.get()); }

Status MutableFilter::save(const std::string& path) const { return freeze().save(path); }

std::span<const std::byte> MutableFilter::part(std::uint64_t offset, std::size_t most_bytes) {
  if (open_ == nullptr) return {};
  if (offset == 0) open_->image.seal();
  const Bytes all = open_->image.container();
  return offset >= all.size() ? Bytes() : all.subspan(offset, std::min(most_bytes, all.size() - offset));
}

Filter MutableFilter::freeze() const {
  if (open_ == nullptr) return {};
  FilterImage image = open_->image.copy();
  image.seal();
  Result<Filter> frozen = open_filter(std::move(image), "a filter in memory");
  TAMIS_CHECK(frozen.ok());
  return *std::move(frozen);
}

}  // namespace tamis
