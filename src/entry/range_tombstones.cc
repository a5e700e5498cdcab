#include "entry/range_tombstones.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "entry/drop_rule.h"

namespace tamis {
namespace {

/// All begins and ends, distinct and ascending.
std::vector<std::string_view> bounds_of(std::span<const RangeTombstone> tombstones) {
  std::vector<std::string_view> bounds;
  bounds.reserve(2 * tombstones.size());
  for (const RangeTombstone& tombstone : tombstones) {
    bounds.push_back(tombstone.range.from);
    if (tombstone.range.to) bounds.push_back(*tombstone.range.to);
  }
  std::ranges::sort(bounds);
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  return bounds;
}

std::size_t place_of(std::span<const std::string_view> bounds, std::string_view key) {
  return static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), key) - bounds.begin());
}

/// The newest of each stripe, newest first.
std::vector<Sequence> newest_of_stripes(const std::multiset<Sequence>& sequences, std::span<const Sequence> snapshots) {
  std::vector<Sequence> newest;
  for (auto at = sequences.rbegin(); at != sequences.rend();) {
    newest.push_back(*at);
    const std::size_t stripe = stripe_of(*at, snapshots);
    if (stripe == 0) break;
    at = std::make_reverse_iterator(sequences.upper_bound(snapshots[stripe - 1]));
  }
  return newest;
}

/// Appends fragments and joins adjacent ones that have the same sequences.
class Fragments {
 public:
  void add(std::string_view from, std::optional<std::string_view> to, std::vector<Sequence> sequences) {
    const bool continues = !sequences_.empty() && sequences == sequences_ && fragments_.back().range.to == from;
    const std::optional<std::string> end = to ? std::optional<std::string>(*to) : std::nullopt;
    if (continues) {
      for (std::size_t i = fragments_.size() - sequences.size(); i < fragments_.size(); ++i) {
        fragments_[i].range.to = end;
      }
    } else {
      for (const Sequence sequence : sequences) fragments_.push_back({{std::string(from), end}, sequence});
      sequences_ = std::move(sequences);
    }
  }
  std::vector<RangeTombstone> take() { return std::move(fragments_); }

 private:
  std::vector<RangeTombstone> fragments_;
  std::vector<Sequence> sequences_;  // Of the last range.
};

}  // namespace

RangeTombstone range_tombstone_of(const Entry& entry) {
  RangeTombstone tombstone{{std::string(entry.key), std::nullopt}, entry.sequence};
  if (!entry.value.empty()) tombstone.range.to = std::string(entry.value);
  return tombstone;
}

/// The nodes that together cover the tombstone's leaves. Node n has the children 2n and 2n + 1; with b leaves, leaf i
/// is the node b + i.
template <typename Visit>
void RangeTombstones::visit_nodes(const RangeTombstone& tombstone, Visit visit) const {
  const std::size_t leaves = bounds_.size();
  std::size_t begin = leaves + place_of(bounds_, tombstone.range.from);
  std::size_t end = leaves + (tombstone.range.to ? place_of(bounds_, *tombstone.range.to) : leaves);
  for (; begin < end; begin /= 2, end /= 2) {
    if (begin % 2 == 1) visit(begin++);
    if (end % 2 == 1) visit(--end);
  }
}

RangeTombstones::RangeTombstones(std::vector<RangeTombstone> tombstones) : tombstones_(std::move(tombstones)) {
  std::ranges::stable_sort(tombstones_, {}, &RangeTombstone::sequence);
  bounds_ = bounds_of(tombstones_);
  node_begins_.resize(2 * bounds_.size() + 1);
  for (const RangeTombstone& tombstone : tombstones_) {
    visit_nodes(tombstone, [&](std::size_t node) { ++node_begins_[node + 1]; });
  }
  for (std::size_t node = 1; node < node_begins_.size(); ++node) node_begins_[node] += node_begins_[node - 1];
  in_nodes_.resize(node_begins_.back());
  std::vector<std::uint32_t> next = node_begins_;
  for (std::uint32_t i = 0; i < tombstones_.size(); ++i) {
    visit_nodes(tombstones_[i], [&](std::size_t node) { in_nodes_[next[node]++] = i; });
  }
}

const RangeTombstone* RangeTombstones::newest_covering(std::string_view key, Sequence moment, KeyStretch* same) const {
  const auto above = std::upper_bound(bounds_.begin(), bounds_.end(), key);
  if (same != nullptr) {
    if (above != bounds_.begin()) same->begin_at(*(above - 1));
    if (above != bounds_.end()) same->end_at(*above);
  }
  if (above == bounds_.begin()) return nullptr;
  const RangeTombstone* newest = nullptr;
  const std::size_t leaf = bounds_.size() + static_cast<std::size_t>(above - bounds_.begin()) - 1;
  for (std::size_t node = leaf; node > 0; node /= 2) {
    const auto begin = in_nodes_.begin() + node_begins_[node];
    const auto end = in_nodes_.begin() + node_begins_[node + 1];
    const auto newer =
        std::partition_point(begin, end, [&](std::uint32_t i) { return tombstones_[i].sequence <= moment; });
    if (newer != begin) newest = newer_of(newest, &tombstones_[*(newer - 1)]);
  }
  TAMIS_INVARIANT(newest == nullptr || newest->range.contains(key));
  return newest;
}

Sequence RangeTombstones::newest(Sequence moment) const {
  const auto newer = std::ranges::upper_bound(tombstones_, moment, {}, &RangeTombstone::sequence);
  return newer == tombstones_.begin() ? Sequence{0} : (newer - 1)->sequence;
}

std::size_t RangeTombstones::memory_bytes() const {
  std::size_t bytes = sizeof *this + tombstones_.capacity() * sizeof(RangeTombstone) +
                      bounds_.capacity() * sizeof(std::string_view) +
                      (node_begins_.capacity() + in_nodes_.capacity()) * sizeof(std::uint32_t);
  for (const RangeTombstone& tombstone : tombstones_) {
    bytes += tombstone.range.from.capacity() + (tombstone.range.to ? tombstone.range.to->capacity() : 0);
  }
  return bytes;
}

std::vector<RangeTombstone> fragments_of(std::vector<RangeTombstone> tombstones, std::span<const Sequence> snapshots) {
  const std::vector<std::string_view> bounds = bounds_of(tombstones);
  std::vector<std::vector<Sequence>> begun(bounds.size());
  std::vector<std::vector<Sequence>> ended(bounds.size());
  for (const RangeTombstone& tombstone : tombstones) {
    begun[place_of(bounds, tombstone.range.from)].push_back(tombstone.sequence);
    if (tombstone.range.to) ended[place_of(bounds, *tombstone.range.to)].push_back(tombstone.sequence);
  }
  Fragments fragments;
  std::multiset<Sequence> covering;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    for (const Sequence sequence : begun[i]) covering.insert(sequence);
    for (const Sequence sequence : ended[i]) covering.erase(covering.find(sequence));
    if (covering.empty()) continue;
    const bool is_last = i + 1 == bounds.size();
    fragments.add(bounds[i], is_last ? std::nullopt : std::optional(bounds[i + 1]),
                  newest_of_stripes(covering, snapshots));
  }
  return fragments.take();
}

std::vector<RangeTombstone> cut_fragments(std::span<const RangeTombstone> fragments, const KeyRange& to) {
  std::vector<RangeTombstone> cut;
  for (const RangeTombstone& fragment : fragments) {
    RangeTombstone part = fragment;
    part.range.narrow(to.from, to.to);
    if (!part.range.ends_before(part.range.from)) cut.push_back(std::move(part));
  }
  return cut;
}

}  // namespace tamis
