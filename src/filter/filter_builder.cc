#include <utility>
#include <vector>

#include "base/try.h"
#include "filter/open_filter.h"
#include "filter/sizing.h"
#include "tamis/filter.h"

namespace tamis {

struct FilterBuilder::State {
  explicit State(FilterOptions from) : options(std::move(from)), hasher(hasher_of(options.seed)) {}

  FilterOptions options;
  KeyHasher hasher;
  std::vector<std::uint64_t> hashes;
};

FilterBuilder::FilterBuilder(FilterOptions options) : state_(std::make_unique<State>(std::move(options))) {}
FilterBuilder::~FilterBuilder() = default;
FilterBuilder::FilterBuilder(FilterBuilder&&) noexcept = default;
FilterBuilder& FilterBuilder::operator=(FilterBuilder&&) noexcept = default;

std::uint64_t FilterBuilder::hash(std::string_view key) const {
  if (state_ == nullptr) return 0;
  return state_->hasher(state_->options.prefix_rule.prefix_of(key));
}

void FilterBuilder::add(std::string_view key) { add_hash(hash(key)); }

void FilterBuilder::add_hash(std::uint64_t hash) {
  if (state_ == nullptr) return;
  // Sorted input has the versions of a key, and the keys of a prefix, next to each other.
  if (!state_->hashes.empty() && state_->hashes.back() == hash) return;
  state_->hashes.push_back(hash);
}

std::uint64_t FilterBuilder::keys() const { return state_ == nullptr ? 0 : state_->hashes.size(); }

Result<Filter> FilterBuilder::finish() {
  if (state_ == nullptr) return Status::closed("this filter builder was moved from");
  const FilterOptions& options = state_->options;
  std::vector<std::uint64_t> hashes = std::exchange(state_->hashes, {});
  TAMIS_TRY(const FilterKind* kind, need_filter_kind(options.kind));
  TAMIS_TRY(const SizeTarget target, size_target(options));
  TAMIS_TRY(const ChosenSize chosen, choose_size(*kind, hashes.size(), target));
  TAMIS_TRY(FilterImage image,
            chosen.layout == FilterLayout::kList ? build_tiny_set(hashes) : kind->build(hashes, chosen.size));
  image.header.kind = kind->info.id;
  image.header.keys = hashes.size();
  image.header.seed = options.seed;
  image.header.prefix_rule = options.prefix_rule;
  image.header.designed_rate = chosen.size.rate;
  image.seal();
  return open_filter(std::move(image), "a filter just built");
}

}  // namespace tamis
