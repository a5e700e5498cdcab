// Reading: every way to get a value, and iterators.
#include <fmt/core.h>

#include "base/hash.h"
#include "base/try.h"
#include "model/model_run.h"

namespace tamis::test {
namespace {

std::string brief(std::string_view bytes) {
  std::string text;
  for (const char c : bytes.substr(0, 24)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte >= ' ' && byte < 127 ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return fmt::format("'{}'{} ({} bytes)", text, bytes.size() > 24 ? "..." : "", bytes.size());
}

std::string brief(const std::string* value) { return value == nullptr ? "nothing" : brief(std::string_view(*value)); }

}  // namespace

void ModelRun::note(std::string_view answer) { digest_ = remix(digest_ ^ std::hash<std::string_view>{}(answer)); }

ReadOptions ModelRun::read_options(const Operation& operation) const {
  const bool has_snapshot = operation.slot && snapshots_.at(*operation.slot).has_value();
  return {.snapshot = has_snapshot ? &*snapshots_.at(*operation.slot) : nullptr, .fills_cache = operation.fills_cache};
}

Status ModelRun::compare_answer(const Operation& operation, std::string_view key, const Result<bool>& found,
                                std::string_view value) {
  if (!found.ok()) return found.status();
  const Model::Map& map = *target(operation).map;
  const auto at = map.find(key);
  const std::string* expected = at == map.end() ? nullptr : at->second.get();
  note(*found ? value : "absent");
  if (*found == (expected != nullptr) && (!*found || *expected == value)) return {};
  return disagreement(fmt::format("{} of {} answered {}; expected {}", to_text(operation.verb), brief(key),
                                  *found ? brief(value) : "nothing", brief(expected)));
}

Status ModelRun::get(const Operation& operation) {
  const Result<std::optional<std::string>> value =
      with(target(operation).id, [&](auto& from) { return from.get(operation.keys.front(), read_options(operation)); });
  if (!value.ok()) return value.status();
  ++asked_.gets;
  if (*value) ++asked_.gets_found;
  return compare_answer(operation, operation.keys.front(), value->has_value(), value->value_or(""));
}

Status ModelRun::get_into(const Operation& operation) {
  const Result<bool> found = with(target(operation).id, [&](auto& from) {
    return from.get(operation.keys.front(), &buffer_, read_options(operation));
  });
  ++asked_.gets;
  if (found.ok() && *found) ++asked_.gets_found;
  TAMIS_TRY_STATUS(compare_answer(operation, operation.keys.front(), found, buffer_));
  const Result<bool> exists = with(
      target(operation).id, [&](auto& from) { return from.exists(operation.keys.front(), read_options(operation)); });
  ++asked_.gets;
  if (exists.ok() && *exists) ++asked_.gets_found;
  return compare_answer(operation, operation.keys.front(), exists, buffer_);
}

Status ModelRun::get_pinned(const Operation& operation) {
  const auto value = with(target(operation).id,
                          [&](auto& from) { return from.get_pinned(operation.keys.front(), read_options(operation)); });
  if (!value.ok()) return value.status();
  ++asked_.gets;
  if (*value) ++asked_.gets_found;
  return compare_answer(operation, operation.keys.front(), value->has_value(), *value ? (*value)->view() : "");
}

Status ModelRun::multi_get(const Operation& operation) {
  const std::vector<std::string_view> keys(operation.keys.begin(), operation.keys.end());
  const std::vector<Result<std::optional<std::string>>> answers =
      with(target(operation).id, [&](auto& from) { return from.multi_get(keys, read_options(operation)); });
  if (answers.size() != keys.size()) return disagreement("multi_get gave another number of answers than keys");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!answers[i].ok()) return answers[i].status();
    ++asked_.gets;
    if (*answers[i]) ++asked_.gets_found;
    TAMIS_TRY_STATUS(compare_answer(operation, keys[i], answers[i]->has_value(), answers[i]->value_or("")));
  }
  return {};
}

Iterator ModelRun::begin_scan(const Operation& operation) {
  ScanOptions options{.prefix = operation.bounds.prefix,
                      .reverse = operation.bounds.reverse,
                      .snapshot = read_options(operation).snapshot,
                      .fills_cache = operation.fills_cache};
  if (operation.bounds.from) options.from = *operation.bounds.from;
  if (operation.bounds.to) options.to = *operation.bounds.to;
  return with(target(operation).id, [&](auto& from) { return from.scan(options); });
}

Status ModelRun::scan(const Operation& operation) {
  OpenIterator iterator{begin_scan(operation), ModelWalk(*target(operation).map, operation.bounds)};
  TAMIS_TRY_STATUS(compare_position(iterator));
  return walk(iterator, operation.moves);
}

/// Uses the iterator's slot; reads at the snapshot of the same slot, if any.
Status ModelRun::open_iterator(const Operation& operation) {
  std::optional<OpenIterator>& iterator = iterators_.at(*operation.slot);
  iterator.emplace(OpenIterator{begin_scan(operation), ModelWalk(*target(operation).map, operation.bounds)});
  TAMIS_TRY_STATUS(compare_position(*iterator));
  return walk(*iterator, operation.moves);
}

Status ModelRun::move_iterator(const Operation& operation) {
  std::optional<OpenIterator>& iterator = iterators_.at(*operation.slot);
  if (!iterator) return {};
  TAMIS_TRY_STATUS(compare_position(*iterator));
  return walk(*iterator, operation.moves);
}

Status ModelRun::walk(OpenIterator& iterator, const std::vector<Move>& moves) {
  for (const Move& move : moves) {
    const bool needs_place = move.kind == Move::Kind::kNext || move.kind == Move::Kind::kPrevious;
    if (needs_place && !iterator.model.valid()) continue;
    switch (move.kind) {
      case Move::Kind::kNext: iterator.store.next(); break;
      case Move::Kind::kPrevious: iterator.store.previous(); break;
      case Move::Kind::kSeek: iterator.store.seek(move.key); break;
      case Move::Kind::kSeekBefore: iterator.store.seek_before(move.key); break;
      case Move::Kind::kFirst: iterator.store.seek_to_first(); break;
      case Move::Kind::kLast: iterator.store.seek_to_last(); break;
    }
    iterator.model.move(move);
    TAMIS_TRY_STATUS(compare_position(iterator));
  }
  return {};
}

Status ModelRun::compare_position(const OpenIterator& iterator) {
  TAMIS_TRY_STATUS(iterator.store.status());
  note(iterator.store.valid() ? iterator.store.key() : "at none");
  if (iterator.store.valid() && iterator.model.valid()) {
    if (iterator.store.key() == iterator.model.key() && iterator.store.value() == iterator.model.value()) return {};
    return disagreement(fmt::format("an iterator is at {}: {}; expected {}: {}", brief(iterator.store.key()),
                                    brief(iterator.store.value()), brief(iterator.model.key()),
                                    brief(iterator.model.value())));
  }
  if (iterator.store.valid() == iterator.model.valid()) return {};
  return disagreement(iterator.store.valid()
                          ? fmt::format("an iterator is at {}; expected none", brief(iterator.store.key()))
                          : fmt::format("an iterator is at none; expected {}", brief(iterator.model.key())));
}

/// It has read everything that is committed. In the middle of a write it may show that, too, before the writer does.
/// Beside threads that replace files it may be too late for one of them, many times in a row.
Status ModelRun::follow(const Operation& operation) {
  Options following = options();
  following.read_only = following.follows = true;
  Environment there = environment();
  there.files = files_.get();
  const auto open_or_move_on = [&]() -> Result<std::uint64_t> {
    if (follower_) return follower_->catch_up();
    TAMIS_TRY(DB opened, DB::open(kDirectory, following, there));
    return follower_.emplace(std::move(opened)).stats().sequence;
  };
  const Result<std::uint64_t> sequence = open_or_move_on();
  if (sequence.status().code() == StatusCode::kStale && spec_.runs_in_background) return {};
  if (!sequence.ok()) return sequence.status();
  if (writing_ != nullptr && *sequence > model_.sequence()) return {};
  if (*sequence != model_.sequence()) {
    return disagreement(fmt::format("a follower is at {} after {} changes", *sequence, model_.sequence()));
  }
  ++work_.followed;
  const std::uint32_t keyspace = model_.existing(operation.keyspace);
  const Model::Map& map = model_.now().at(keyspace).map;
  TAMIS_TRY(const Keyspace opened, follower_->keyspace(name_of_keyspace(keyspace)));
  for (const std::string& key : operation.keys) {
    TAMIS_TRY(const std::optional<std::string> value, opened.get(key));
    const auto at = map.find(key);
    if (value.has_value() == (at != map.end()) && (!value || *value == *at->second)) continue;
    return disagreement(fmt::format("a follower's get of {} answered {}; expected {}", brief(key),
                                    brief(value ? &*value : nullptr), brief(at == map.end() ? nullptr : &*at->second)));
  }
  return compare_with(*follower_);
}

Status ModelRun::compare_all() { return compare_with(*db_); }

Status ModelRun::compare_with(DB& db) {
  std::size_t count = 0;
  for (std::uint32_t keyspace = 0; keyspace < kKeyspaces; ++keyspace) {
    const Model::Keyspace& expected = model_.now().at(keyspace);
    if (!expected.id) continue;
    ++count;
    TAMIS_TRY(const Keyspace opened, db.keyspace(name_of_keyspace(keyspace)));
    TAMIS_TRY_STATUS(compare_scan(opened.scan({.fills_cache = false}), expected.map));
  }
  const std::size_t listed = db.keyspaces().size();
  return listed == count ? Status() : disagreement(fmt::format("{} keyspaces; expected {}", listed, count));
}

Status ModelRun::compare_scan(Iterator it, const Model::Map& map) {
  for (const auto& [key, value] : map) {
    TAMIS_TRY_STATUS(it.status());
    if (!it.valid()) return disagreement(fmt::format("{} is missing at the end of a full scan", brief(key)));
    if (it.key() != key || it.value() != *value) {
      return disagreement(fmt::format("a full scan is at {}: {}; expected {}: {}", brief(it.key()), brief(it.value()),
                                      brief(key), brief(std::string_view(*value))));
    }
    it.next();
  }
  TAMIS_TRY_STATUS(it.status());
  if (it.valid()) return disagreement(fmt::format("a full scan ends with an unknown key, {}", brief(it.key())));
  return {};
}

}  // namespace tamis::test
