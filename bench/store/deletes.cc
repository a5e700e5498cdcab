// What deleted keys cost those who come after: a queue, and a seek across a range that was removed.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "store/parts.h"
#include "store/process_facts.h"

namespace tamis::bench {
namespace {

constexpr std::uint64_t kTenths = 10;
constexpr double kMaxSeconds = 60;  // Of a queue: some stores walk all past items at each pop.
constexpr std::size_t kSeekBatches = 41;
constexpr std::uint64_t kSeeksInABatch = 25;
constexpr double kSlowSeek = 1e-3;     // Seconds, of a store that walks all deleted keys.
constexpr double kMaxSeekSeconds = 2;  // Of all batches.

/// Items are pushed at the tail and popped at the head, which is looked for from the first key on, or with a hint from
/// the item popped last.
class Queue {
 public:
  Queue(Session& session, const DataSet& data, bool has_hint) : session_(session), data_(data), has_hint_(has_hint) {}

  void push() {
    session_.put(data_.key(2 * tail_).view(), data_.value(2 * tail_), false);
    ++tail_;
  }
  void pop() {
    const std::string from = has_hint_ ? head_key_ : std::string();
    if (!session_.seek(from, head_key_) || head_key_ != data_.key(2 * head_).view()) stop("a queue lost its head");
    session_.remove(head_key_);
    ++head_;
  }

 private:
  Session& session_;
  const DataSet& data_;
  bool has_hint_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  std::string head_key_;
};

/// Microseconds of one item in the first and the last tenth, and of the slowest pop.
struct QueueTimes {
  double first = 0;
  std::optional<double> last;  ///< None if it took too long.
  double worst = 0;
};

QueueTimes run_queue(Queue& queue, std::uint64_t items) {
  QueueTimes times;
  const std::uint64_t tenth = std::max<std::uint64_t>(items / kTenths, 1);
  double all = 0;
  for (std::uint64_t part = 0; part < kTenths; ++part) {
    const double seconds = seconds_of([&] {
      for (std::uint64_t i = 0; i < tenth && all < kMaxSeconds; ++i) {
        queue.push();
        const double popped = seconds_of([&] { queue.pop(); });
        all += popped;
        times.worst = std::max(times.worst, popped * 1e6);
      }
    });
    if (all >= kMaxSeconds) return times;
    const double each = seconds * 1e6 / static_cast<double>(tenth);
    if (part == 0) times.first = each;
    times.last = each;
  }
  return times;
}

QueueTimes run_queue(Field& field, Contestant& contestant, bool has_hint) {
  const DataSet data(DataSet::Keys::kAscending, 100);
  const std::uint64_t items = field.entries() * 2 / 5;
  contestant.open(field.fresh_folder(contestant), {.entries = items});
  auto session = contestant.session();
  Queue queue(*session, data, has_hint);
  for (std::uint64_t i = 0; i < items / 20; ++i) queue.push();
  const QueueTimes times = run_queue(queue, items);
  session.reset();
  contestant.close();
  return times;
}

void measure_queue(Field& field) {
  field.alternate([&](Contestant& contestant, std::uint64_t /*round*/) {
    const auto add = [&](const char* row, double value) { field.report().add(row, contestant.id(), value); };
    if (field.wants({"queue_first", "queue_last", "queue_worst"})) {
      const QueueTimes times = run_queue(field, contestant, false);
      if (times.first > 0) add("queue_first", times.first);
      if (times.last) add("queue_last", *times.last);
      add("queue_worst", times.worst);
    }
    if (field.wants({"queue_hint"})) {
      if (const QueueTimes times = run_queue(field, contestant, true); times.last) add("queue_hint", *times.last);
    }
  });
}

/// Microseconds of seeks to the first key.
struct SeekTimes {
  double first;   ///< May sort a memtable, or find out what is empty.
  double median;  ///< Of batches: after a delete, work in the background begins and ends.
};

SeekTimes seek_first(Session& session, std::string_view expected) {
  std::string key;
  const auto seek = [&](std::uint64_t times) {
    return seconds_of([&] {
      for (std::uint64_t i = 0; i < times; ++i) {
        if (!session.seek({}, key) || key != expected) stop("a seek found another key");
      }
    });
  };
  const double first = seek(1);
  const std::uint64_t in_a_batch = seek(1) > kSlowSeek ? 1 : kSeeksInABatch;
  Samples batches;
  double all = 0;
  while (batches.values.size() < kSeekBatches && all < kMaxSeekSeconds) {
    const double seconds = seek(in_a_batch);
    batches.values.push_back(seconds * 1e6 / static_cast<double>(in_a_batch));
    all += seconds;
  }
  return {first * 1e6, batches.median()};
}

/// Nine tenths of ascending keys go away, by one range delete or by a delete of each; the rest is looked for.
class MostDeleted {
 public:
  explicit MostDeleted(Field& field)
      : field_(field), stock_{data_, field.entries()}, first_live_(stock_.count / 10 * 9) {}

  void run(Contestant& contestant) {
    if (field_.wants({"seek_never"})) {
      auto session = open_filled(contestant, first_live_);
      add("seek_never", contestant, seek_first(*session, live_.view()).median);
      session.reset();
      contestant.close();
    }
    if (field_.wants({"range_delete", "seek_deleted", "seek_deleted_settled", "disk_deleted"}))
      remove_range(contestant);
    if (field_.wants({"remove_each", "seek_removed_first", "seek_removed", "seek_removed_settled"})) {
      remove_each(contestant);
    }
  }

 private:
  void add(const char* row, const Contestant& contestant, double value) {
    field_.report().add(row, contestant.id(), value);
  }
  [[nodiscard]] double disk(const Contestant& contestant) const {
    return static_cast<double>(disk_bytes(field_.folder(contestant)) - contestant.recycled_bytes());
  }

  /// With the keys from `begin` on, in order, so that all stores have the same ones.
  std::unique_ptr<Session> open_filled(Contestant& contestant, std::uint64_t begin) {
    contestant.open(field_.fresh_folder(contestant), {.entries = stock_.count});
    auto session = contestant.session();
    (void)put_batches(*session, stock_, begin, stock_.count - begin, kBatch);
    contestant.flush();
    contestant.settle();
    return session;
  }

  void remove_range(Contestant& contestant) {
    auto session = open_filled(contestant, 0);
    const double before = disk(contestant);
    bool is_removed = false;
    const double seconds = seconds_of([&] { is_removed = session->remove_range(data_.key(0).view(), live_.view()); });
    if (is_removed) {
      add("range_delete", contestant, seconds * 1e6);
      add("seek_deleted", contestant, seek_first(*session, live_.view()).median);
      contestant.settle();
      add("seek_deleted_settled", contestant, seek_first(*session, live_.view()).median);
      add("disk_deleted", contestant, disk(contestant) / before);
    }
    session.reset();
    contestant.close();
  }

  /// In the order of the keys.
  void remove_each(Contestant& contestant) {
    auto session = open_filled(contestant, 0);
    const double seconds = seconds_of([&] {
      for (std::uint64_t n = 0; n < first_live_; ++n) session->remove(data_.key(2 * n).view());
    });
    add("remove_each", contestant, static_cast<double>(first_live_) / seconds / 1e3);
    const SeekTimes at_once = seek_first(*session, live_.view());
    add("seek_removed_first", contestant, at_once.first);
    add("seek_removed", contestant, at_once.median);
    contestant.flush();
    contestant.settle();
    add("seek_removed_settled", contestant, seek_first(*session, live_.view()).median);
    session.reset();
    contestant.close();
  }

  Field& field_;
  const DataSet data_{DataSet::Keys::kAscending, 100};
  const Stock stock_;
  const std::uint64_t first_live_;
  const KeyText live_ = data_.key(2 * first_live_);
};

}  // namespace

void measure_deletes(Field& field) {
  if (!field.wants_groups({"deletes"})) return;
  field.part("queue", [&] { measure_queue(field); });
  field.part("most deleted", [&] {
    MostDeleted deleted(field);
    field.alternate([&](Contestant& contestant, std::uint64_t /*round*/) { deleted.run(contestant); });
  });
}

}  // namespace tamis::bench
