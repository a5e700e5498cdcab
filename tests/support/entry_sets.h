// Runs of entries for tests of iterators, made from a seed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "entry/entry.h"
#include "entry/entry_iterator.h"
#include "entry/vector_iterator.h"

namespace tamis::test {

/// Random runs over few keys, many of which share their first eight bytes or differ only by a zero byte. Values name
/// their run and sequence, so that equal positions can be told apart.
struct EntrySets {
  struct Shape {
    std::size_t runs = 3;
    std::size_t entries = 30;  ///< In each run, at most.
    std::uint64_t keys = 12;
    std::uint64_t sequences = 20;
    bool unique = false;  ///< No position in two runs.
  };

  EntrySets(std::uint64_t seed, const Shape& shape) {
    std::mt19937_64 random(seed);
    std::set<std::pair<std::string_view, Sequence>> taken;
    for (std::uint64_t i = 0; i < shape.keys; ++i) keys.push_back(make_key(random));
    std::sort(keys.begin(), keys.end());
    runs.resize(shape.runs);
    for (std::size_t run = 0; run < shape.runs; ++run) {
      if (!shape.unique) taken.clear();
      for (std::uint64_t left = random() % (shape.entries + 1); left > 0; --left) {
        const std::string_view key = keys[random() % keys.size()];
        const Sequence sequence{random() % (shape.sequences + 1)};
        if (taken.insert({key, sequence}).second)
          runs[run].push_back(make_entry(key, sequence, run, random() % 3 == 0));
      }
      std::ranges::sort(runs[run], {}, &Entry::position);
    }
  }

  /// All entries in order; at equal positions, the first run's entry comes first.
  [[nodiscard]] std::vector<Entry> merged() const {
    std::vector<Entry> all;
    for (const std::vector<Entry>& run : runs) all.insert(all.end(), run.begin(), run.end());
    std::ranges::stable_sort(all, {}, &Entry::position);
    return all;
  }

  [[nodiscard]] std::vector<std::unique_ptr<EntryIterator>> iterators() const {
    std::vector<std::unique_ptr<EntryIterator>> all;
    for (const std::vector<Entry>& run : runs) all.push_back(std::make_unique<VectorIterator>(run));
    return all;
  }

  /// One of the keys, or a string near one.
  [[nodiscard]] std::string some_key(std::mt19937_64& random) const {
    std::string key = keys[random() % keys.size()];
    switch (random() % 5) {
      case 0: return key + '\0';
      case 1: return key.substr(0, key.size() / 2);
      case 2: return make_key(random);
      default: return key;
    }
  }

  static std::string make_key(std::mt19937_64& random) {
    std::string key = random() % 2 == 0 ? "" : "user:000";
    for (std::uint64_t left = random() % 4; left > 0; --left) key.push_back("\x00\x01\x61\xff"[random() % 4]);
    return key;
  }

  Entry make_entry(std::string_view key, Sequence sequence, std::size_t run, bool is_delete) {
    if (is_delete) return {key, {}, sequence, EntryKind::kDelete};
    values.push_back("run " + std::to_string(run) + " sequence " + std::to_string(number_of(sequence)));
    return {key, values.back(), sequence, EntryKind::kPut};
  }

  std::vector<std::string> keys;  // Sorted; may contain duplicates.
  std::deque<std::string> values;
  std::vector<std::vector<Entry>> runs;
};

/// Forwards every move and fails at move number `moves`, counted from 0 over all iterators that share the counter; with
/// `heals`, only at that one.
class FailingIterator final : public EntryIterator {
 public:
  FailingIterator(std::unique_ptr<EntryIterator> inner, int* moves_left, bool heals)
      : inner_(std::move(inner)), moves_left_(moves_left), heals_(heals) {}

  void seek(EntryPosition target) override {
    inner_->seek(target);
    look();
  }
  void seek_to_first() override {
    inner_->seek_to_first();
    look();
  }
  void seek_to_last() override {
    inner_->seek_to_last();
    look();
  }
  void next() override {
    inner_->next();
    look();
  }
  void previous() override {
    inner_->previous();
    look();
  }

 private:
  void look() {
    const int left = (*moves_left_)--;
    if (left == 0 || (left < 0 && !heals_)) return show_error(Status::io_error("the disk is gone"));
    if (!inner_->valid()) return show_end();
    show(inner_->entry());
  }

  std::unique_ptr<EntryIterator> inner_;
  int* moves_left_;
  bool heals_;
};

inline std::vector<std::unique_ptr<EntryIterator>> failing(std::vector<std::unique_ptr<EntryIterator>> runs,
                                                           int* moves_left, bool heals) {
  for (auto& run : runs) run = std::make_unique<FailingIterator>(std::move(run), moves_left, heals);
  return runs;
}

}  // namespace tamis::test
