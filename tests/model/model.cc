#include "model/model.h"

#include <algorithm>

namespace tamis::test {

void Model::apply(const Change& change, std::uint32_t keyspace, std::uint64_t written_at) {
  if (change.is_empty()) return;  // Nothing is written.
  ++sequence_;
  auto& [id, map, due] = now_.at(keyspace);
  log_.push_back({*id, change});
  if (change.is_merge) {
    apply_to(map, change);
    const auto expires = due.find(change.key);
    if (expires != due.end()) expires->second.operands = expires->second.operands.value_or("") + value_of(change);
    return;
  }
  std::erase_if(due, [&](const auto& time) { return change.changes(time.first); });
  if (change.expires_in != 0 && written_at + change.expires_in <= time_) {
    map.erase(change.key);
    return;
  }
  apply_to(map, change);
  if (change.expires_in != 0) due[change.key] = {.time = written_at + change.expires_in};
}

void Model::apply_to(Map& map, const Change& change) {
  if (change.is_range) {
    map.erase(map.lower_bound(change.key), change.to ? map.lower_bound(*change.to) : map.end());
    return;
  }
  if (change.is_merge) {
    std::shared_ptr<const std::string>& value = map[change.key];
    value = std::make_shared<const std::string>((value == nullptr ? "" : *value) + value_of(change));
  } else if (change.is_put) {
    map[change.key] = std::make_shared<const std::string>(value_of(change));
  } else {
    map.erase(change.key);
  }
}

void Model::pass_time(std::uint64_t now) {
  time_ = now;
  for (Keyspace& keyspace : now_) {
    std::erase_if(keyspace.due, [&](const auto& key_and_time) {
      const auto& [key, due] = key_and_time;
      if (due.time > now) return false;
      keyspace.map.erase(key);
      if (due.operands) keyspace.map[key] = std::make_shared<const std::string>(*due.operands);
      return true;
    });
  }
}

Model::Target Model::at(std::uint32_t keyspace, const std::optional<std::uint32_t>& slot) const {
  static const Map kNothing;
  const bool has_snapshot = slot && snapshots_.at(*slot);
  const Keyspaces& then = has_snapshot ? *snapshots_.at(*slot) : now_;
  if (then.at(keyspace).id) return {*then.at(keyspace).id, &then.at(keyspace).map};
  if (now_.at(keyspace).id) return {*now_.at(keyspace).id, &kNothing};  // Made after the snapshot.
  return {0, &then[0].map};
}

std::uint64_t Model::snapshots() const {
  return static_cast<std::uint64_t>(
      std::count_if(snapshots_.begin(), snapshots_.end(), [](const auto& snapshot) { return snapshot.has_value(); }));
}

ModelWalk::ModelWalk(const Model::Map& map, const Bounds& bounds) : is_reverse_(bounds.reverse) {
  for (const auto& [key, value] : map) {
    const bool is_inside = std::string_view(key).starts_with(bounds.prefix) && (!bounds.from || key >= *bounds.from) &&
                           (!bounds.to || key < *bounds.to);
    if (is_inside) entries_.emplace_back(key, value);
  }
  move({bounds.reverse ? Move::Kind::kLast : Move::Kind::kFirst, {}});
}

std::size_t ModelWalk::count_before(std::string_view key) const {
  return static_cast<std::size_t>(
      std::count_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.first < key; }));
}

/// 0 - 1 is beyond the last one.
void ModelWalk::move(const Move& move) {
  switch (move.kind) {
    case Move::Kind::kNext: ++at_; break;
    case Move::Kind::kPrevious: --at_; break;
    case Move::Kind::kSeek: at_ = is_reverse_ ? count_before(move.key + '\0') - 1 : count_before(move.key); break;
    case Move::Kind::kSeekBefore: at_ = count_before(move.key) - 1; break;
    case Move::Kind::kFirst: at_ = 0; break;
    case Move::Kind::kLast: at_ = entries_.size() - 1; break;
  }
}

}  // namespace tamis::test
