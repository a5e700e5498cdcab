#include "crash/store_ledger.h"

#include <fmt/core.h>

#include <utility>

#include "base/hash.h"

namespace tamis::test {

void apply_to(const Batch& batch, Content& content) {
  for (const Batch::Operation& operation : batch) {
    if (operation.kind == Batch::Operation::Kind::kRemove) {
      content.erase(std::string(operation.key));
    } else {
      content[std::string(operation.key)] = operation.value;
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

std::string read_all(const DB& db, const std::vector<std::string>& probed, Content& content) {
  content.clear();
  Iterator walk = db.scan();
  for (; walk.valid(); walk.next()) {
    if (!content.empty() && walk.key() <= content.rbegin()->first) return "a scan out of order";
    content.emplace(walk.key(), walk.value());
  }
  if (!walk.status().ok()) return "scan: " + walk.status().to_text();
  auto expected = content.rbegin();
  for (walk.seek_to_last(); walk.valid(); walk.previous(), ++expected) {
    if (expected == content.rend() || walk.key() != expected->first || walk.value() != expected->second) {
      return fmt::format("a reverse scan is at {}, unlike the forward scan", walk.key());
    }
  }
  if (!walk.status().ok()) return "scan backwards: " + walk.status().to_text();
  if (expected != content.rend()) return "a reverse scan ends early";
  for (const std::string& key : probed) {
    const Result<std::optional<std::string>> value = db.get(key);
    if (!value.ok()) return fmt::format("get {}: {}", key.substr(0, 20), value.status().to_text());
    const auto at = content.find(key);
    if (value->has_value() != (at != content.end()) || (*value && **value != at->second)) {
      return fmt::format("get {} gives {}, the scan {}", key.substr(0, 20), value->value_or("(absent)").substr(0, 20),
                         at == content.end() ? "(absent)" : at->second.substr(0, 20));
    }
  }
  return {};
}

void StoreLedger::tries(const Batch& batch) {
  State next{current(), acknowledged_.size() - 1};
  apply_to(batch, next.content);
  for (const Batch::Operation& operation : batch) keys_[std::string(operation.key)] = true;
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
  for (const State& state : doubtful_) {
    if (state.base >= required && state.content == found) return {};
  }
  for (std::size_t i = acknowledged_.size(); i-- > required;) {
    if (acknowledged_[i].content == found) return {};
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (acknowledged_[i].content == found) {
      return fmt::format("only the first {} of {} commits are there, {} were promised", i, acknowledged_.size() - 1,
                         required);
    }
  }
  return fmt::format("the content matches no prefix: {}\nlast acknowledged: {}", to_text(found), to_text(current()));
}

void StoreLedger::settle(Content content) {
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
  std::uint64_t hash = remix(acknowledged_.size() + remix(durable_ + remix(commits_)));
  return remix(hash + (checkpoint_ ? 4 : 0) + (is_checkpoint_made_ ? 2 : 0) + (is_created_ ? 1 : 0));
}

}  // namespace tamis::test
