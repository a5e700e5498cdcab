// Random operations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "model/operation.h"

namespace tamis::test {

/// Draws operations on a few hundred recurring keys: many share their first bytes, some are empty, long, or of bytes
/// that sort badly.
///
/// Threads: one at a time.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  Operation next();
  std::vector<Operation> many(std::size_t count);

 private:
  Verb draw_verb();
  std::string draw_key();
  std::string draw_place();
  Change draw_change();
  void draw_write(Operation& operation);
  void draw_range(Change& change);
  void draw_merge(Change& change);
  void draw_in_transaction(Operation& operation);
  void draw_keys(Operation& operation, std::uint64_t count);
  void draw_scan(Operation& operation);
  void draw_change_of_keyspaces(Operation& operation);
  Bounds draw_bounds();
  std::vector<Move> draw_moves(std::uint64_t most);
  std::uint32_t draw_slot() { return static_cast<std::uint32_t>(random_.below(Operation::kSlots)); }
  std::uint32_t draw_keyspace() { return static_cast<std::uint32_t>(one_in(3) ? 0 : random_.below(kKeyspaces)); }
  bool one_in(std::uint64_t count) { return random_.below(count) == 0; }

  SplitMix64 random_;
};

}  // namespace tamis::test
