#include "memtable/range_delete_list.h"

#include <new>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace tamis {
namespace {

constexpr std::size_t kMaxSingles = 64;
constexpr std::size_t kSetsAtOnce = 8;

}  // namespace

Status RangeDeleteList::prepare(std::string_view from, std::string_view to) {
  try {
    const std::size_t needed = nodes_.size() + 2 * (prepared_.size() + 1);  // With the set that it may complete.
    if (nodes_.capacity() < needed) nodes_.reserve(2 * needed);
    auto node = std::make_unique<Node>();
    node->single = range_tombstone_of({from, to, {}, EntryKind::kRangeDelete});
    prepared_.push_back(std::move(node));
    return {};
  } catch (const std::bad_alloc&) {
    return Status::out_of_space("no memory for a range delete");
  }
}

void RangeDeleteList::insert(const Entry& entry) {
  TAMIS_INVARIANT(entry.kind == EntryKind::kRangeDelete && (entry.value.empty() || entry.key < entry.value));
  if (prepared_.empty()) TAMIS_CHECK(prepare(entry.key, entry.value).ok());
  std::unique_ptr<Node> node = std::move(prepared_.front());
  prepared_.pop_front();
  TAMIS_INVARIANT(node->single.range.from == entry.key);
  node->single.sequence = entry.sequence;
  memory_.add(sizeof(Node) + entry.key.size() + entry.value.size());
  publish(std::move(node), head_.load(std::memory_order_relaxed));
  size_.fetch_add(1, std::memory_order_relaxed);
  if (++singles_ >= kMaxSingles) make_sets();
}

void RangeDeleteList::publish(std::unique_ptr<Node> node, const Node* next) {
  node->next = next;
  nodes_.push_back(std::move(node));
  head_.store(nodes_.back().get(), std::memory_order_release);
}

/// The single ones become a set, together with the sets of equal size behind them if there are enough.
void RangeDeleteList::make_sets() {
  try {
    auto node = std::make_unique<Node>();
    std::vector<RangeTombstone> tombstones;
    const Node* next = head_.load(std::memory_order_relaxed);
    for (; next != nullptr && next->set == nullptr; next = next->next) tombstones.push_back(next->single);
    for (;;) {
      const std::size_t size = tombstones.size();
      std::size_t equal = 0;
      const Node* rest = next;
      for (; rest != nullptr && rest->count <= size && equal < kSetsAtOnce - 1; rest = rest->next) ++equal;
      if (equal < kSetsAtOnce - 1) break;
      for (; next != rest; next = next->next) {
        tombstones.insert(tombstones.end(), next->set->all().begin(), next->set->all().end());
      }
    }
    node->count = tombstones.size();
    node->set = std::make_unique<const RangeTombstones>(std::move(tombstones));
    memory_.add(sizeof(Node) + node->set->memory_bytes());
    publish(std::move(node), next);
    singles_ = 0;
  } catch (const std::bad_alloc&) {  // The next insert tries again.
  }
}

Result<const RangeTombstone*> RangeDeleteList::newest_covering(std::string_view key, Sequence moment,
                                                               KeyStretch* same) const {
  // Newer nodes have larger sequences.
  for (const Node* node = head_.load(std::memory_order_acquire); node != nullptr; node = node->next) {
    if (node->set != nullptr) {
      if (const RangeTombstone* const found = node->set->newest_covering(key, moment, same)) return found;
    } else if (node->single.sequence <= moment) {
      const KeyRange& range = node->single.range;
      if (same != nullptr ? same->cut(key, range) : range.contains(key)) return &node->single;
    }
  }
  return nullptr;
}

Sequence RangeDeleteList::newest(Sequence moment) const {
  for (const Node* node = head_.load(std::memory_order_acquire); node != nullptr; node = node->next) {
    const Sequence found = node->set != nullptr ? node->set->newest(moment) : node->single.sequence;
    if (found > Sequence{0} && found <= moment) return found;
  }
  return {};
}

std::vector<RangeTombstone> RangeDeleteList::all() const {
  std::vector<RangeTombstone> all;
  for (const Node* node = head_.load(std::memory_order_acquire); node != nullptr; node = node->next) {
    if (node->set != nullptr) {
      all.insert(all.end(), node->set->all().begin(), node->set->all().end());
    } else {
      all.push_back(node->single);
    }
  }
  return all;
}

}  // namespace tamis
