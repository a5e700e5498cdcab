#include "crash/store_ledger.h"

#include <fmt/core.h>

#include <iterator>
#include <utility>

#include "base/hash.h"

namespace tamis::test {

namespace {

constexpr char kMark = '\x01';
constexpr char kDueMark = '\x02';

/// What follows a value in a Content: nothing if it does not expire.
std::string due_text(std::optional<ExpiryTime> due) {
  return due ? fmt::format("{}{}", kDueMark, due->time_since_epoch().count()) : std::string();
}

std::optional<ExpiryTime> due_of(const Batch::Operation& operation, std::uint64_t now) {
  if (operation.expires_in == std::chrono::milliseconds(0)) return operation.expires_at;
  return ExpiryTime(std::chrono::milliseconds(now) + operation.expires_in);
}

bool has_expired(const std::string& value, std::uint64_t now) {
  const std::size_t mark = value.rfind(kDueMark);
  return mark != std::string::npos && std::stoull(value.substr(mark + 1)) <= now;
}

bool is_of_default(std::string_view key) { return key.empty() || key.front() != kMark; }

/// An empty `to` is the end of the keyspace. The marks of others may lie inside a range of the default one.
void erase_range(Content& content, const std::string& mark, std::string_view from, std::string_view to) {
  for (auto at = content.lower_bound(mark + std::string(from)); at != content.end();) {
    const bool is_inside = mark.empty() ? is_of_default(at->first) : at->first.starts_with(mark);
    if (!mark.empty() && !is_inside) return;
    if (is_inside && !to.empty() && at->first >= mark + std::string(to)) return;
    at = is_inside ? content.erase(at) : std::next(at);
  }
}

std::set<std::string> keyspaces_in(const Content& content) {
  std::set<std::string> names;
  for (const auto& [key, value] : content) {
    if (key.size() > 1 && key.front() == kMark && key.find(kMark, 1) == key.size() - 1) {
      names.insert(key.substr(1, key.size() - 2));
    }
  }
  return names;
}

/// Adds what the scan finds. The error or disagreement, or an empty text.
template <typename Source>
std::string read_keyspace(const Source& source, const std::string& mark, Content& content) {
  std::vector<std::pair<std::string, std::string>> entries;
  Iterator walk = source.scan();
  const auto stored = [&] { return std::string(walk.value()) + due_text(walk.expires_at()); };
  for (; walk.valid(); walk.next()) {
    if (!entries.empty() && walk.key() <= entries.back().first) return "a scan out of order";
    entries.emplace_back(walk.key(), stored());
  }
  if (!walk.status().ok()) return "scan: " + walk.status().to_text();
  auto expected = entries.rbegin();
  for (walk.seek_to_last(); walk.valid(); walk.previous(), ++expected) {
    if (expected == entries.rend() || walk.key() != expected->first || stored() != expected->second) {
      return fmt::format("a reverse scan is at {}, unlike the forward scan", walk.key());
    }
  }
  if (!walk.status().ok()) return "scan backwards: " + walk.status().to_text();
  if (expected != entries.rend()) return "a reverse scan ends early";
  for (auto& [key, value] : entries) content.emplace(mark + key, std::move(value));
  return {};
}

}  // namespace

std::string mark_of(std::string_view keyspace) {
  return keyspace.empty() ? std::string() : kMark + std::string(keyspace) + kMark;
}

void apply_to(const Batch& batch, Content& content, const std::map<std::uint32_t, std::string>& names,
              std::uint64_t now) {
  for (const Batch::Operation& operation : batch) {
    const std::string mark = operation.keyspace_id == 0 ? std::string() : mark_of(names.at(operation.keyspace_id));
    if (operation.kind == Batch::Operation::Kind::kRemove) {
      content.erase(mark + std::string(operation.key));
    } else if (operation.kind == Batch::Operation::Kind::kRemoveRange) {
      erase_range(content, mark, operation.key, operation.value);
    } else if (operation.kind == Batch::Operation::Kind::kMerge) {
      content[mark + std::string(operation.key)] += operation.value;
    } else {
      content[mark + std::string(operation.key)] = std::string(operation.value) + due_text(due_of(operation, now));
    }
  }
}

std::string to_text(const Content& content) {
  std::string text = fmt::format("{} keys:", content.size());
  for (const auto& [key, value] : content) text += fmt::format(" {}={}", key.substr(0, 6), value.substr(0, 8));
  return text;
}

std::string first_few(const std::vector<std::string>& violations) {
  std::string text = fmt::format("{} violations:\n", violations.size());
  const std::size_t step = violations.size() / 3 + 1;
  for (std::size_t i = 0; i < violations.size(); i += step) text += violations[i] + "\n";
  return text;
}

std::string read_all(DB& db, const std::vector<std::string>& probed, Content& content) {
  content.clear();
  if (std::string unread = read_keyspace(db, {}, content); !unread.empty()) return unread;
  for (const KeyspaceInfo& info : db.keyspaces()) {
    if (info.id == 0) continue;
    const Result<Keyspace> keyspace = db.keyspace(info.name);
    if (!keyspace.ok()) return fmt::format("keyspace {}: {}", info.name, keyspace.status().to_text());
    const std::string mark = mark_of(info.name);
    if (std::string unread = read_keyspace(*keyspace, mark, content); !unread.empty()) return info.name + ": " + unread;
    content[mark] = "exists";
  }
  for (const std::string& key : probed) {
    const Result<std::optional<std::string>> value = db.get(key);
    if (!value.ok()) return fmt::format("get {}: {}", key.substr(0, 20), value.status().to_text());
    const auto at = content.find(key);
    if (value->has_value() != (at != content.end()) ||
        (*value && **value != std::string_view(at->second).substr(0, at->second.rfind(kDueMark)))) {
      return fmt::format("get {} gives {}, the scan {}", key.substr(0, 20), value->value_or("(absent)").substr(0, 20),
                         at == content.end() ? "(absent)" : at->second.substr(0, 20));
    }
  }
  return {};
}

void StoreLedger::tries(const Batch& batch) {
  State next{acknowledged_.back().content, acknowledged_.size() - 1};
  apply_to(batch, next.content, names_, now_);
  for (const Batch::Operation& operation : batch) {
    if (operation.keyspace_id == 0) keys_[std::string(operation.key)] = true;
  }
  doubtful_.push_back(std::move(next));
  ++commits_;
}

void StoreLedger::acknowledged(bool is_durable) {
  acknowledged_.push_back(std::move(doubtful_.back()));
  doubtful_.pop_back();
  if (is_durable) all_durable();
}

void StoreLedger::all_durable() {
  durable_ = acknowledged_.size() - 1;
  std::erase_if(doubtful_, [&](const State& state) { return state.base < durable_; });
}

std::string StoreLedger::check(const Content& found, Crash crash) const {
  const std::size_t required = crash == Crash::kProcess ? acknowledged_.size() - 1 : durable_;
  const std::set<std::string> existing = keyspaces_in(found);
  if (std::string wrong = check_keyspaces(existing); !wrong.empty()) return wrong;
  const auto is_found = [&](const State& state) { return visible(state.content, existing) == found; };
  for (const State& state : doubtful_) {
    if (state.base >= required && is_found(state)) return {};
  }
  for (std::size_t i = acknowledged_.size(); i-- > required;) {
    if (is_found(acknowledged_[i])) return {};
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (is_found(acknowledged_[i])) {
      return fmt::format("only the first {} of {} commits are there, {} were promised", i, acknowledged_.size() - 1,
                         required);
    }
  }
  return fmt::format("the content matches no prefix: {}\nlast acknowledged: {}", to_text(found), to_text(current()));
}

void StoreLedger::made_keyspace(const std::string& name, std::uint32_t id) {
  doubtful_keyspaces_.erase(name);
  keyspaces_.insert(name);
  names_[id] = name;
  ++keyspace_changes_;
}

void StoreLedger::dropped_keyspace(const std::string& name) {
  doubtful_keyspaces_.erase(name);
  keyspaces_.erase(name);
  ++keyspace_changes_;
  const auto is_in_it = [&](const auto& entry) { return entry.first.starts_with(mark_of(name)); };
  for (State& state : acknowledged_) std::erase_if(state.content, is_in_it);
  for (State& state : doubtful_) std::erase_if(state.content, is_in_it);
}

std::optional<Content> StoreLedger::checkpoint() const {
  if (!checkpoint_) return std::nullopt;
  return visible(*checkpoint_, keyspaces_in(*checkpoint_));
}

Content StoreLedger::visible(const Content& content, const std::set<std::string>& keyspaces) const {
  Content left;
  for (const auto& [key, value] : content) {
    if (has_expired(value, now_)) continue;
    if (is_of_default(key) || keyspaces.contains(key.substr(1, key.find(kMark, 1) - 1))) left.emplace(key, value);
  }
  for (const std::string& name : keyspaces) left[mark_of(name)] = "exists";
  return left;
}

std::string StoreLedger::check_keyspaces(const std::set<std::string>& found) const {
  for (const std::string& name : keyspaces_) {
    if (!found.contains(name) && !doubtful_keyspaces_.contains(name)) return fmt::format("keyspace {} is gone", name);
  }
  for (const std::string& name : found) {
    if (!keyspaces_.contains(name) && !doubtful_keyspaces_.contains(name)) {
      return fmt::format("keyspace {} is there, which was not made or was dropped", name);
    }
  }
  return {};
}

void StoreLedger::settle(Content content) {
  keyspaces_ = keyspaces_in(content);
  doubtful_keyspaces_.clear();
  acknowledged_.clear();
  doubtful_.clear();
  acknowledged_.push_back({std::move(content), 0});
  durable_ = 0;
}

std::vector<std::string> StoreLedger::keys() const {
  std::vector<std::string> keys;
  keys.reserve(keys_.size());
  for (const auto& [key, written] : keys_) keys.push_back(key);
  return keys;
}

std::uint64_t StoreLedger::state_hash() const {
  std::uint64_t hash = remix(acknowledged_.size() + remix(durable_ + remix(commits_ + remix(now_))));
  hash = remix(hash + remix(keyspace_changes_ + remix(doubtful_keyspaces_.size())));
  return remix(hash + (checkpoint_ ? 4 : 0) + (is_checkpoint_made_ ? 2 : 0) + (is_created_ ? 1 : 0));
}

}  // namespace tamis::test
