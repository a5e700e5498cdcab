// Store and model agree after any list of operations. The first eight bytes select the options and the schedule; then
// each operation is eight bytes, so that a mutation changes one and leaves the others as they are.
#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "base/random.h"
#include "model/model_run.h"
#include "model/option_sets.h"
#include "model/trace.h"

namespace tamis::test {
namespace {

constexpr std::size_t kRecordBytes = 8;
constexpr std::size_t kMaxOperations = 200;
using Record = std::span<const std::uint8_t, kRecordBytes>;

/// Few keys, so that they recur; neighbours in every possible way.
std::string key_of(std::uint8_t byte) {
  const unsigned number = byte / 8;
  switch (byte % 8) {
    case 0: return std::string(number % 4, '\0');
    case 1: return std::string(number % 4, '\xff');
    case 2: return fmt::format("user:{}", number);
    case 3: return fmt::format("user:{}:name", number);
    case 4: return std::string(64, 'k') + std::string(1, static_cast<char>(number));
    case 5: return std::string(8 + number % 2, 'e');
    case 6: return std::string(1000 + 400 * (number % 3), 'l');
    default: return std::string(1, static_cast<char>(number * 8));
  }
}

/// A dozen of the longest fill a memtable.
Change change_of(std::uint8_t key, std::uint8_t bytes, bool is_put) {
  if (!is_put) return {.key = key_of(key), .is_put = false};
  const std::uint32_t length = bytes < 200 ? bytes : (bytes - 199U) * 90U;
  return {.key = key_of(key), .value_seed = key * 256U + bytes, .value_bytes = length};
}

Move move_of(unsigned bits, std::uint8_t key) {
  switch (bits % 8) {
    case 0: return {Move::Kind::kSeek, key_of(key)};
    case 1: return {Move::Kind::kSeekBefore, key_of(key)};
    case 2: return {Move::Kind::kFirst, {}};
    case 3: return {Move::Kind::kLast, {}};
    case 4:
    case 5: return {Move::Kind::kPrevious, {}};
    default: return {Move::Kind::kNext, {}};
  }
}

/// Two thirds of the bytes are cheap verbs: those that open, copy or read whole stores are slow.
Verb verb_of(std::uint8_t byte) {
  constexpr std::uint8_t kCheap = static_cast<std::uint8_t>(Verb::kRelease) + 1;
  constexpr std::uint8_t kFirstOfAll = 180;
  return Verb{static_cast<std::uint8_t>(byte < kFirstOfAll ? byte % kCheap : byte % kVerbs)};
}

/// Fields that a verb does not use are set anyway, and do no harm.
Operation operation_of(Record record) {
  const auto [verb, first, second, length, flags, slot, moves, count] = std::to_array<std::uint8_t>(
      {record[0], record[1], record[2], record[3], record[4], record[5], record[6], record[7]});
  Operation operation{.verb = verb_of(verb)};
  const std::uint32_t keyspace = slot / 16U;  // Half of them are the default one.
  const auto keyspace_of = [&](unsigned i) { return keyspace < 8 ? 0 : (keyspace + i) % kKeyspaces; };
  const bool is_of_keyspace = operation.verb == Verb::kMakeKeyspace || operation.verb == Verb::kDropKeyspace;
  operation.keyspace = is_of_keyspace ? 1 + keyspace % (kKeyspaces - 1) : keyspace_of(0);
  const bool is_single = operation.verb == Verb::kPut || operation.verb == Verb::kRemove ||
                         operation.verb == Verb::kRemoveRange || operation.verb == Verb::kMerge;
  const unsigned changes = is_single ? 1 : count % 12U;
  for (unsigned i = 0; i < changes; ++i) {
    const bool is_put = is_single ? operation.verb == Verb::kPut : ((flags >> (i % 8)) & 1) == 0;
    operation.changes.push_back(change_of(static_cast<std::uint8_t>(first + i * second), length, is_put));
    operation.changes.back().keyspace = keyspace_of(i);
  }
  if (operation.verb == Verb::kRemoveRange) {
    operation.changes.back().is_range = true;
    if ((flags & 16) == 0) operation.changes.back().to = key_of(second);
  }
  if (operation.verb == Verb::kMerge) {
    operation.changes.back().is_merge = true;
    operation.changes.back().value_bytes = length % 16U;
  }
  const unsigned keys = operation.verb == Verb::kMultiGet ? count % 12U : 1;
  for (unsigned i = 0; i < keys; ++i) operation.keys.push_back(key_of(static_cast<std::uint8_t>(first + i * second)));
  operation.sync = (flags & 1) != 0;
  operation.fills_cache = (flags & 2) == 0;
  operation.bounds.reverse = (flags & 4) != 0;
  if ((flags & 8) != 0) operation.bounds.from = key_of(first);
  if ((flags & 16) != 0) operation.bounds.to = key_of(second);
  if ((flags & 32) != 0) operation.bounds.prefix = key_of(length).substr(0, 6);
  const bool needs_slot = operation.verb == Verb::kOpenIterator || operation.verb == Verb::kMoveIterator ||
                          operation.verb == Verb::kDropIterator || operation.verb == Verb::kSnapshot ||
                          operation.verb == Verb::kRelease;
  if (needs_slot || (flags & 64) != 0) operation.slot = slot % Operation::kSlots;
  for (unsigned i = 0; i < count % 8U; ++i) operation.moves.push_back(move_of(moves >> i, second));
  return operation;
}

Trace trace_of(std::span<const std::uint8_t> input) {
  SplitMix64 draws(input[0] | (input[1] << 8));
  Trace trace{{.options = {draw_options(draws), draw_options(draws)}, .seed = input[2]}, {}};
  if ((input[3] & 1) != 0) trace.spec.schedule_seed = input[4];
  input = input.subspan(kRecordBytes);
  while (input.size() >= kRecordBytes && trace.operations.size() < kMaxOperations) {
    trace.operations.push_back(operation_of(input.first<kRecordBytes>()));
    input = input.subspan(kRecordBytes);
  }
  return trace;
}

}  // namespace
}  // namespace tamis::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis::test;
  if (size < kRecordBytes) return 0;
  const Trace trace = trace_of({data, size});
  const Outcome outcome = run_here(trace);
  if (outcome.failure.empty()) return 0;
  fmt::print(stderr, "# {}\n# To reproduce, use TAMIS_MODEL_TRACE:\n{}", outcome.failure, to_text(trace));
  std::abort();
}
