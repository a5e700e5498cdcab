// What deleted keys cost those who come after: a queue, and a seek across a range that was removed.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "store/parts.h"
#include "store/process_facts.h"

namespace tamis::bench {
namespace {

constexpr std::uint64_t kTenths = 10;
constexpr double kMaxSeconds = 60;  // Of a queue: some stores walk all past items at each pop.
constexpr std::size_t kSeekBatches = 41;
constexpr std::uint64_t kSeeksInABatch = 25;

/// Items are pushed at the tail and popped at the head, which is looked for from the first key on.
class Queue {
 public:
  Queue(Session& session, const DataSet& data) : session_(session), data_(data) {}

  void push() {
    session_.put(data_.key(2 * tail_).view(), data_.value(2 * tail_), false);
    ++tail_;
  }
  void pop() {
    if (!session_.seek({}, head_key_) || head_key_ != data_.key(2 * head_).view()) stop("a queue lost its head");
    session_.remove(head_key_);
    ++head_;
  }

 private:
  Session& session_;
  const DataSet& data_;
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

void measure_queue(Field& field) {
  const DataSet data(DataSet::Keys::kAscending, 100);
  const std::uint64_t items = field.entries() * 2 / 5;
  field.alternate([&](Contestant& contestant, std::uint64_t /*round*/) {
    contestant.open(field.fresh_folder(contestant), {.entries = items});
    auto session = contestant.session();
    Queue queue(*session, data);
    for (std::uint64_t i = 0; i < items / 20; ++i) queue.push();
    const QueueTimes times = run_queue(queue, items);
    if (times.first > 0) field.report().add("queue_first", contestant.id(), times.first);
    if (times.last) field.report().add("queue_last", contestant.id(), *times.last);
    field.report().add("queue_worst", contestant.id(), times.worst);
    session.reset();
    contestant.close();
  });
}

/// To the first key, which is this one. The median of batches: after a delete, work in the background begins and ends.
double seek_first(Session& session, std::string_view expected) {
  std::string key;
  (void)session.seek({}, key);  // May sort a memtable, or find out what is empty.
  std::vector<double> seconds(kSeekBatches);
  for (double& batch : seconds) {
    batch = seconds_of([&] {
      for (std::uint64_t i = 0; i < kSeeksInABatch; ++i) {
        if (!session.seek({}, key) || key != expected) stop("a seek found another key");
      }
    });
  }
  std::ranges::nth_element(seconds, seconds.begin() + kSeekBatches / 2);
  return seconds[kSeekBatches / 2] * 1e6 / kSeeksInABatch;
}

/// The keys from `begin` on, in order, so that both stores have the same ones.
void fill(Contestant& contestant, Session& session, const Stock& stock, std::uint64_t begin) {
  (void)put_batches(session, stock, begin, stock.count - begin, kBatch);
  contestant.flush();
  contestant.settle();
}

void measure_range(Field& field) {
  const DataSet data(DataSet::Keys::kAscending, 100);
  const Stock stock = {data, field.entries()};
  const std::uint64_t first_live = stock.count / 10 * 9;
  const KeyText live = data.key(2 * first_live);
  field.alternate([&](Contestant& contestant, std::uint64_t /*round*/) {
    const auto add = [&](const char* row, double value) { field.report().add(row, contestant.id(), value); };
    contestant.open(field.fresh_folder(contestant), {.entries = stock.count});
    auto session = contestant.session();
    fill(contestant, *session, stock, first_live);
    add("seek_never", seek_first(*session, live.view()));
    session.reset();
    contestant.close();

    contestant.open(field.fresh_folder(contestant), {.entries = stock.count});
    session = contestant.session();
    fill(contestant, *session, stock, 0);
    const auto before = static_cast<double>(disk_bytes(field.folder(contestant)) - contestant.recycled_bytes());
    bool is_removed = false;
    const double seconds = seconds_of([&] { is_removed = session->remove_range(data.key(0).view(), live.view()); });
    if (is_removed) {
      add("range_delete", seconds * 1e6);
      add("seek_deleted", seek_first(*session, live.view()));
      contestant.settle();
      add("seek_deleted_settled", seek_first(*session, live.view()));
      const auto after = static_cast<double>(disk_bytes(field.folder(contestant)) - contestant.recycled_bytes());
      add("disk_deleted", after / before);
    }
    session.reset();
    contestant.close();
  });
}

}  // namespace

void measure_deletes(Field& field) {
  field.part_of({"queue_first", "queue_last", "queue_worst"}, "queue", [&] { measure_queue(field); });
  field.part_of({"seek_never", "range_delete", "seek_deleted", "seek_deleted_settled", "disk_deleted"}, "range delete",
                [&] { measure_range(field); });
}

}  // namespace tamis::bench
