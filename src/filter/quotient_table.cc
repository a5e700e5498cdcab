#include "filter/quotient_table.h"

namespace tamis {
namespace {

constexpr std::uint64_t kMostTaken = 0xffff;

/// The place of the n-th set bit of a word that has as many, from 1.
int place_of_bit(std::uint64_t word, int n) {
  int place = 0;
  for (int half = 32; half > 0; half /= 2) {
    const std::uint64_t low = word & ((std::uint64_t{1} << half) - 1);
    const int count = std::popcount(low);
    if (n <= count) {
      word = low;
    } else {
      n -= count;
      word >>= half;
      place += half;
    }
  }
  return place;
}

std::uint64_t with_bit(std::uint64_t word, std::uint64_t bit, bool value) {
  return (word & ~(std::uint64_t{1} << bit)) | (std::uint64_t{value} << bit);
}

}  // namespace

std::uint64_t QuotientTable::end_of(std::uint64_t block, int runs) const {
  const std::uint64_t first = block * 64 + taken_of(block);
  if (runs == 0) return first;
  std::uint64_t at = first / 64;
  std::uint64_t ends = ends_of(at) & (~std::uint64_t{0} << (first % 64));
  for (int there = std::popcount(ends); there < runs; there = std::popcount(ends)) {
    runs -= there;
    ends = ends_of(++at);
  }
  return at * 64 + static_cast<std::uint64_t>(place_of_bit(ends, runs)) + 1;
}

bool QuotientTable::is_whole(std::uint64_t entries) const {
  std::uint64_t next = 0;  // Behind the last run so far.
  std::uint64_t used = 0;
  // The first slot from `slot` on where a run ends, or the number of slots.
  const auto next_end = [&](std::uint64_t slot) {
    for (std::uint64_t at = slot / 64; at < shape_.blocks(); ++at) {
      const std::uint64_t word = ends_of(at) & (at == slot / 64 ? ~std::uint64_t{0} << (slot % 64) : ~std::uint64_t{0});
      if (word != 0) return at * 64 + static_cast<std::uint64_t>(std::countr_zero(word));
    }
    return shape_.slots();
  };
  for (std::uint64_t at = 0; at < shape_.blocks(); ++at) {
    if (taken_of(at) != (next > at * 64 ? next - at * 64 : 0)) return false;
    std::uint64_t left = occupied_of(at);
    if (left != 0 && at * 64 >= shape_.quotients()) return false;
    for (; left != 0; left &= left - 1) {
      const std::uint64_t begin = std::max(next, at * 64 + static_cast<std::uint64_t>(std::countr_zero(left)));
      if (begin >= shape_.slots() || next_end(next) < begin) return false;  // An end where no run is.
      const std::uint64_t end = next_end(begin);
      if (end == shape_.slots()) return false;
      for (std::uint64_t slot = begin; slot <= end; ++slot) {
        if (entry(slot) == 0) return false;
      }
      used += end + 1 - begin;
      next = end + 1;
    }
  }
  if (next < shape_.slots() && next_end(next) != shape_.slots()) return false;
  return used == entries;
}

void QuotientTableWriter::set_entry(std::uint64_t slot, std::uint64_t entry) {
  const std::uint64_t bit = slot % 64 * shape_.entry_bits;
  std::byte* at = to_ + slot / 64 * shape_.block_bytes() + QuotientShape::kBlockHeadBytes + bit / 8;
  const std::uint64_t others = load_le<std::uint64_t>(at) & ~(mask() << (bit % 8));
  store_le(at, others | (entry << (bit % 8)));
}

void QuotientTableWriter::set_occupied(std::uint64_t quotient, bool is_occupied) {
  const std::uint64_t at = quotient / 64;
  store_le(to_ + at * shape_.block_bytes(), with_bit(occupied_of(at), quotient % 64, is_occupied));
}

void QuotientTableWriter::set_ends(std::uint64_t slot, bool ends) {
  const std::uint64_t at = slot / 64;
  store_le(to_ + at * shape_.block_bytes() + 8, with_bit(ends_of(at), slot % 64, ends));
}

void QuotientTableWriter::set_taken(std::uint64_t block, std::uint64_t slots) {
  store_le(to_ + block * shape_.block_bytes() + 16, static_cast<std::uint16_t>(slots));
}

void QuotientTableWriter::move_entry(std::uint64_t from, std::uint64_t to) {
  set_entry(to, entry(from));
  set_ends(to, ends(from));
}

/// The blocks behind the quotient's, up to that of the last slot that moved.
void QuotientTableWriter::count_taken(std::uint64_t after_quotient, std::uint64_t last_slot, std::int64_t change) {
  for (std::uint64_t at = after_quotient / 64 + 1; at <= last_slot / 64; ++at) {
    set_taken(at, taken_of(at) + static_cast<std::uint64_t>(change));
  }
}

std::uint64_t QuotientTableWriter::first_unused(std::uint64_t slot) const {
  while (slot < shape_.slots()) {
    const std::uint64_t end = end_up_to(slot);
    if (end <= slot) return slot;
    slot = end;
  }
  return shape_.slots();
}

bool QuotientTableWriter::insert(std::uint64_t quotient, std::uint64_t entry) {
  const std::uint64_t at = std::max(quotient, end_up_to(quotient));
  const std::uint64_t unused = first_unused(at);
  if (unused == shape_.slots()) return false;
  for (std::uint64_t i = quotient / 64 + 1; i <= unused / 64; ++i) {
    if (taken_of(i) == kMostTaken) return false;
  }
  for (std::uint64_t slot = unused; slot > at; --slot) move_entry(slot - 1, slot);
  set_entry(at, entry);
  set_ends(at, true);
  if (is_occupied(quotient)) {
    set_ends(at - 1, false);
  } else {
    set_occupied(quotient, true);
  }
  count_taken(quotient, unused, 1);
  return true;
}

void QuotientTableWriter::erase(std::uint64_t quotient, std::uint64_t slot) {
  const Run run = run_of(quotient);
  // What is behind moves up as far as it is not in its own slot.
  std::uint64_t behind = run.end;
  while (behind < shape_.slots() && end_up_to(behind - 1) > behind) behind = end_up_to(behind - 1);
  const bool was_last = slot + 1 == run.end;
  for (std::uint64_t at = slot; at + 1 < behind; ++at) move_entry(at + 1, at);
  set_entry(behind - 1, 0);
  set_ends(behind - 1, false);
  if (run.end - run.begin == 1) {
    set_occupied(quotient, false);
  } else if (was_last) {
    set_ends(slot - 1, true);
  }
  count_taken(quotient, behind - 1, -1);
}

bool QuotientTableWriter::append(std::uint64_t quotient, std::uint64_t entry) {
  for (; next_block_ <= quotient / 64; ++next_block_) {
    const std::uint64_t taken = next_slot_ > next_block_ * 64 ? next_slot_ - next_block_ * 64 : 0;
    fits_ = fits_ && taken <= kMostTaken;
    set_taken(next_block_, taken);
  }
  const std::uint64_t at = std::max(next_slot_, quotient);
  if (at >= shape_.slots()) return false;
  set_entry(at, entry);
  set_ends(at, true);
  if (is_occupied(quotient)) {
    set_ends(at - 1, false);
  } else {
    set_occupied(quotient, true);
  }
  next_slot_ = at + 1;
  return fits_;
}

bool QuotientTableWriter::finish_appending() {
  for (; next_block_ < shape_.blocks(); ++next_block_) {
    const std::uint64_t taken = next_slot_ > next_block_ * 64 ? next_slot_ - next_block_ * 64 : 0;
    fits_ = fits_ && taken <= kMostTaken;
    set_taken(next_block_, taken);
  }
  return fits_;
}

}  // namespace tamis
