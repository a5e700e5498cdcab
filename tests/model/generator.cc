#include "model/generator.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace tamis::test {
namespace {

/// The relative frequency of each verb.
std::uint64_t weight_of(Verb verb) {
  switch (verb) {
    case Verb::kPut: return 2200;
    case Verb::kRemove: return 700;
    case Verb::kRemoveRange: return 60;
    case Verb::kMerge: return 500;
    case Verb::kWrite: return 600;
    case Verb::kTryWrite: return 200;
    case Verb::kSync: return 50;
    case Verb::kGet: return 1200;
    case Verb::kGetInto: return 600;
    case Verb::kGetPinned: return 400;
    case Verb::kMultiGet: return 300;
    case Verb::kScan: return 700;
    case Verb::kOpenIterator: return 200;
    case Verb::kMoveIterator: return 500;
    case Verb::kDropIterator: return 150;
    case Verb::kSnapshot: return 150;
    case Verb::kRelease: return 120;
    case Verb::kMakeKeyspace: return 40;
    case Verb::kDropKeyspace: return 12;
    case Verb::kBegin: return 350;
    case Verb::kGetIn: return 600;
    case Verb::kScanIn: return 200;
    case Verb::kWriteIn: return 500;
    case Verb::kSavepoint: return 80;
    case Verb::kRollbackTo: return 80;
    case Verb::kCommit: return 500;
    case Verb::kRollback: return 60;
    case Verb::kFlush: return 60;
    case Verb::kCompact: return 25;
    case Verb::kWaitIdle: return 20;
    case Verb::kPassTime: return 150;
    case Verb::kResume: return 10;
    case Verb::kCheckpoint: return 6;
    case Verb::kFollow: return 60;
    case Verb::kVerify: return 8;
    case Verb::kApproximateSize: return 40;
    case Verb::kStats: return 80;
    case Verb::kExplain: return 300;
    case Verb::kPlan: return 10;
    case Verb::kReopen: return 15;
    case Verb::kAbandon: return 10;
    case Verb::kCrash: return 10;
    case Verb::kReadOnly: return 4;
    case Verb::kRepair: return 4;
  }
  return 0;
}

constexpr std::size_t kLongKeyBytes = 10'000;

std::string big_endian(std::uint64_t number) {
  std::string bytes(8, '\0');
  for (std::size_t i = 8; i-- > 0; number >>= 8) bytes[i] = static_cast<char>(number & 0xff);
  return bytes;
}

}  // namespace

Verb Generator::draw_verb() {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kVerbs; ++i) sum += weight_of(Verb{static_cast<std::uint8_t>(i)});
  std::uint64_t left = random_.below(sum);
  for (std::size_t i = 0; i < kVerbs; ++i) {
    const Verb verb{static_cast<std::uint8_t>(i)};
    if (left < weight_of(verb)) return verb;
    left -= weight_of(verb);
  }
  return Verb::kGet;
}

std::string Generator::draw_key() {
  const std::uint64_t draw = random_.below(1000);
  if (draw < 10) return {};
  if (draw < 350) return fmt::format("user:{:03}", random_.below(300));
  if (draw < 500) return big_endian(random_.below(200));
  if (draw < 650) return fmt::format("g{}:{}", random_.below(10), random_.below(30));
  if (draw < 720) return std::string(300, 'k') + fmt::format("{:02}", random_.below(40));
  if (draw < 740) return std::string(2000, 'l') + fmt::format("{}", random_.below(4));
  if (draw < 741) return std::string(65'535 + random_.below(3), static_cast<char>('x' + random_.below(2)));
  std::string key;
  for (std::uint64_t left = random_.below(6); left > 0; --left) key.push_back("\x00\x01\x61\xff"[random_.below(4)]);
  return key;
}

/// A key, or a position near one.
std::string Generator::draw_place() {
  std::string key = draw_key();
  switch (random_.below(6)) {
    case 0: return key + '\0';
    case 1: return key.substr(0, key.size() / 2);
    case 2: return key + '\xff';
    default: return key;
  }
}

Change Generator::draw_change() {
  Change change{.key = draw_key(), .keyspace = draw_keyspace(), .is_put = !one_in(4)};
  if (!change.is_put && one_in(8)) draw_range(change);
  if (!change.is_put) return change;
  change.value_seed = static_cast<std::uint32_t>(random_.next());
  const std::uint64_t draw = random_.below(100);
  const std::uint64_t most = draw < 10 ? 1 : draw < 40 ? 16 : draw < 80 ? 200 : draw < 95 ? 1200 : 5001;
  change.value_bytes = static_cast<std::uint32_t>(random_.below(most));
  if (one_in(6)) {
    draw_merge(change);
    return change;
  }
  if (one_in(3)) change.expires_in = static_cast<std::uint32_t>(1 + random_.below(one_in(4) ? 5'000'000 : 30'000));
  return change;
}

/// Short, so that values do not grow without end.
void Generator::draw_merge(Change& change) {
  change.is_put = false;
  change.is_merge = true;
  change.value_seed = static_cast<std::uint32_t>(random_.next());
  change.value_bytes = static_cast<std::uint32_t>(random_.below(one_in(8) ? 200 : 12));
}

/// Mostly of a few keys. One in four ranges is empty or reaches far; few have no end.
void Generator::draw_range(Change& change) {
  change.is_range = true;
  if (change.key.size() > kLongKeyBytes) change.key.resize(kLongKeyBytes);
  if (one_in(60)) return;
  change.to = draw_place();
  if (!one_in(4))
    change.to = change.key.substr(0, change.key.size() - std::min<std::size_t>(change.key.size(), 1)) + '\xff';
  if (*change.to < change.key && !one_in(8)) std::swap(*change.to, change.key);
}

Bounds Generator::draw_bounds() {
  Bounds bounds;
  if (one_in(3)) {
    const std::string key = draw_key();
    bounds.prefix = key.substr(0, random_.below(std::min<std::uint64_t>(key.size(), 12) + 1));
  }
  if (one_in(3)) bounds.from = draw_place();
  if (one_in(3)) bounds.to = draw_place();
  if (bounds.from && bounds.to && *bounds.to < *bounds.from && !one_in(4)) std::swap(bounds.from, bounds.to);
  bounds.reverse = one_in(3);
  return bounds;
}

/// Mostly forward, with reversals and jumps.
std::vector<Move> Generator::draw_moves(std::uint64_t most) {
  using enum Move::Kind;
  std::vector<Move> moves;
  Move::Kind direction = random_.coin() ? kNext : kPrevious;
  for (std::uint64_t left = random_.below(most + 1); left > 0; --left) {
    switch (random_.below(16)) {
      case 0: direction = direction == kNext ? kPrevious : kNext; break;
      case 1: moves.push_back({kSeek, draw_place()}); break;
      case 2: moves.push_back({kSeekBefore, draw_place()}); break;
      case 3: moves.push_back({one_in(2) ? kFirst : kLast, {}}); break;
      default: break;
    }
    moves.push_back({direction, {}});
  }
  return moves;
}

void Generator::draw_write(Operation& operation) {
  const bool is_batch = operation.verb == Verb::kWrite || operation.verb == Verb::kTryWrite;
  for (std::uint64_t left = is_batch ? random_.below(10) : 1; left > 0; --left) {
    operation.changes.push_back(draw_change());
  }
  operation.sync = one_in(is_batch ? 10 : 50);
  if (is_batch) {
    // The smallest store accepts batches of 80 KiB: the longest keys are put alone.
    std::erase_if(operation.changes, [](const Change& change) { return change.key.size() > kLongKeyBytes; });
    return;
  }
  Change& change = operation.changes.back();
  if (operation.verb == Verb::kRemoveRange) {
    change = {.key = change.key, .keyspace = change.keyspace, .is_put = false};
    return draw_range(change);
  }
  change.is_range = change.is_merge = false;
  change.to.reset();
  if (operation.verb == Verb::kMerge) {
    change = {.key = change.key, .keyspace = change.keyspace};
    return draw_merge(change);
  }
  if (operation.verb == Verb::kRemove) change = {.key = change.key, .keyspace = change.keyspace};
  change.is_put = operation.verb == Verb::kPut;
}

void Generator::draw_in_transaction(Operation& operation) {
  operation.slot = draw_slot();
  operation.keyspace = draw_keyspace();
  if (operation.verb == Verb::kGetIn) operation.keys.push_back(draw_key());
  if (operation.verb == Verb::kWriteIn) {
    operation.changes.push_back(draw_change());
    Change& change = operation.changes.back();
    if (one_in(10)) {
      change = {.key = change.key, .keyspace = change.keyspace, .is_put = false};
      draw_range(change);
    }
  }
  if (operation.verb == Verb::kCommit) operation.sync = one_in(10);
  if (operation.verb != Verb::kScanIn) return;
  operation.bounds = draw_bounds();
  operation.moves = draw_moves(12);
}

void Generator::draw_keys(Operation& operation, std::uint64_t count) {
  while (count-- > 0) operation.keys.push_back(one_in(8) ? draw_place() : draw_key());
  if (one_in(4)) operation.slot = draw_slot();
  operation.fills_cache = !one_in(8);
  operation.keyspace = draw_keyspace();
}

void Generator::draw_scan(Operation& operation) {
  operation.bounds = draw_bounds();
  operation.moves = draw_moves(12);
  draw_keys(operation, 0);
  if (operation.verb == Verb::kOpenIterator) operation.slot = draw_slot();
}

void Generator::draw_change_of_keyspaces(Operation& operation) {
  operation.keyspace = 1 + static_cast<std::uint32_t>(random_.below(kKeyspaces - 1));
  if (operation.verb == Verb::kMakeKeyspace && random_.coin()) {
    operation.options_seed = static_cast<std::uint32_t>(1 + random_.below(1 << 20));
  }
}

Operation Generator::next() {
  Operation operation{.verb = draw_verb()};
  switch (operation.verb) {
    case Verb::kPut:
    case Verb::kRemove:
    case Verb::kRemoveRange:
    case Verb::kMerge:
    case Verb::kWrite:
    case Verb::kTryWrite: draw_write(operation); break;
    case Verb::kGet:
    case Verb::kGetInto:
    case Verb::kGetPinned:
    case Verb::kExplain: draw_keys(operation, 1); break;
    case Verb::kFollow:
    case Verb::kMultiGet: draw_keys(operation, random_.below(20)); break;
    case Verb::kScan:
    case Verb::kOpenIterator: draw_scan(operation); break;
    case Verb::kMoveIterator:
      operation.moves = draw_moves(20);
      operation.slot = draw_slot();
      break;
    case Verb::kBegin:
    case Verb::kGetIn:
    case Verb::kScanIn:
    case Verb::kWriteIn:
    case Verb::kSavepoint:
    case Verb::kRollbackTo:
    case Verb::kCommit:
    case Verb::kRollback: draw_in_transaction(operation); break;
    case Verb::kDropIterator:
    case Verb::kSnapshot:
    case Verb::kRelease: operation.slot = draw_slot(); break;
    case Verb::kCompact:
    case Verb::kApproximateSize:
      if (one_in(2)) operation.bounds = draw_bounds();
      operation.keyspace = draw_keyspace();
      break;
    case Verb::kMakeKeyspace:
    case Verb::kDropKeyspace: draw_change_of_keyspaces(operation); break;
    case Verb::kPassTime: operation.milliseconds = static_cast<std::uint32_t>(1 + random_.below(10'000)); break;
    case Verb::kSync:
    case Verb::kFlush:
    case Verb::kWaitIdle:
    case Verb::kResume:
    case Verb::kCheckpoint:
    case Verb::kVerify:
    case Verb::kStats:
    case Verb::kPlan:
    case Verb::kReopen:
    case Verb::kAbandon:
    case Verb::kCrash:
    case Verb::kReadOnly:
    case Verb::kRepair: break;
  }
  return operation;
}

std::vector<Operation> Generator::many(std::size_t count) {
  std::vector<Operation> operations;
  operations.reserve(count);
  while (operations.size() < count) operations.push_back(next());
  return operations;
}

}  // namespace tamis::test
