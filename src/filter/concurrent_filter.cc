#include "tamis/concurrent_filter.h"

#include <utility>

#include "base/check.h"
#include "base/sharded_counter.h"
#include "base/try.h"
#include "filter/filter_kind.h"
#include "filter/open_filter.h"
#include "filter/shared_bits.h"
#include "filter/sizing.h"

namespace tamis {

struct ConcurrentFilter::State {
  State(FilterImage from, SharedBits shared)
      : image(std::move(from)), hasher(hasher_of(image.header.seed)), bits(shared), body(image.mutable_body().data()) {}

  FilterImage image;  // All but its body is constant.
  KeyHasher hasher;
  SharedBits bits;
  std::byte* body;
  ShardedCounter keys;
};

ConcurrentFilter::ConcurrentFilter() noexcept = default;
ConcurrentFilter::ConcurrentFilter(ConcurrentFilter&&) noexcept = default;
ConcurrentFilter& ConcurrentFilter::operator=(ConcurrentFilter&&) noexcept = default;
ConcurrentFilter::~ConcurrentFilter() = default;

Result<ConcurrentFilter> ConcurrentFilter::create(const FilterOptions& options) {
  TAMIS_TRY(const FilterKind* kind, need_filter_kind(options.kind));
  if (kind->shared.add == nullptr) {
    return Status::not_supported("threads can add at once to filters of the kinds line, bloom and split only, not to " +
                                 options.kind);
  }
  TAMIS_TRY(FilterImage image, make_empty_filter(*kind, options));
  ConcurrentFilter filter;
  filter.state_ = std::make_unique<State>(std::move(image), kind->shared);
  return filter;
}

void ConcurrentFilter::add_hash(std::uint64_t hash) {
  if (state_ == nullptr) return;
  state_->bits.add(state_->image.header, state_->body, hash);
  state_->keys.add();
}

bool ConcurrentFilter::may_contain_hash(std::uint64_t hash) const {
  return state_ == nullptr || state_->bits.test(state_->image.header, state_->body, hash);
}

std::uint64_t ConcurrentFilter::hash(std::string_view key) const {
  return state_ == nullptr ? 0 : state_->hasher(state_->image.header.prefix_rule.prefix_of(key));
}

std::uint64_t ConcurrentFilter::keys() const { return state_ == nullptr ? 0 : state_->keys.sum(); }

Filter ConcurrentFilter::freeze() const {
  if (state_ == nullptr) return {};
  const Bytes body = state_->image.body();
  Result<FilterImage> copy = FilterImage::with_body(body.size());
  TAMIS_CHECK(copy.ok());
  copy->header = state_->image.header;
  copy->header.keys = state_->keys.sum();
  copy_shared_bits(body, copy->mutable_body());
  copy->seal();
  Result<Filter> frozen = open_filter(*std::move(copy), "a filter in memory");
  TAMIS_CHECK(frozen.ok());
  return *std::move(frozen);
}

}  // namespace tamis
