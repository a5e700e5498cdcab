// Memtables: what a put, a get, a scan between puts and the order for a flush cost.
#include <memory>

#include "layout/block_image.h"
#include "layout/hash_memtable.h"
#include "layout/samples.h"
#include "layout/skip_list.h"

namespace tamis::layout {
namespace {

constexpr std::size_t kScanLength = 100;
constexpr std::size_t kScans = 200;
constexpr std::size_t kBatch = 4096;
constexpr std::size_t kMostGets = 100'000;

/// Keys in random order, with their hashes; packed, so that reading them costs nothing.
struct Input {
  Input(const std::string& shape, std::size_t count) : set(make_key_set(shape, count)) {
    std::vector<std::uint32_t> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<std::uint32_t>(i);
    for (std::size_t i = count; i-- > 1;) std::swap(numbers[i], numbers[fast_range(remix(i), i + 1)]);
    text.reserve(set.text.size());
    for (const std::uint32_t number : numbers) {
      const std::size_t begin = text.size();
      text += set.keys[number];
      const std::string_view key = std::string_view(text).substr(begin);
      puts.push_back({key, hash_of(key), value_mark(number)});
    }
  }
  struct Put {
    std::string_view key;
    std::uint64_t hash;
    std::uint64_t mark;
  };
  KeySet set;  // In order.
  std::string text;
  std::vector<Put> puts;
};

/// Random puts of an input with copies of their keys.
struct Batch {
  Batch(const Input& input, std::uint64_t seed) {
    text.reserve(kBatch * kMostKeyBytes);
    for (std::size_t i = 0; i < kBatch; ++i) {
      const Input::Put& put = input.puts[fast_range(remix(seed * kBatch + i), input.puts.size())];
      const std::size_t begin = text.size();
      text += put.key;
      puts.push_back({std::string_view(text).substr(begin), put.hash, put.mark});
    }
  }
  /// Flips the last byte of every key.
  void make_absent() {
    for (const Input::Put& put : puts) {
      char& last = text[static_cast<std::size_t>(put.key.data() - text.data()) + put.key.size() - 1];
      last = static_cast<char>(~last);
    }
  }
  std::string text;
  std::vector<Input::Put> puts;
};

template <typename Memtable>
class Contestant {
 public:
  Contestant(const Input& input, Table& table, Report& report) : input_(input), table_(table), report_(report) {
    value_.resize(kValueBytes, 'v');
  }

  void run_round() {
    const std::span<const Input::Put> all = input_.puts;
    auto memtable = std::make_unique<Memtable>();
    add("insert", all.size(), [&] { insert(*memtable, all); });
    add_bytes("bytes/entry", memtable->bytes());
    get(*memtable);
    add("order", all.size(), [&] { memtable->make_order(); });
    add_bytes("order bytes", memtable->order_bytes());
    add("walk", all.size(), [&] { walk(*memtable); });
    const std::span<const Input::Put> again = all.last(std::min(all.size(), kMostGets));
    add("overwrite", again.size(), [&] { insert(*memtable, again); });
    memtable.reset();
    Memtable other;
    const std::size_t half = all.size() / 2;
    insert(other, all.first(half));
    std::span<const Input::Put> rest = all.subspan(half);
    for (const std::size_t puts : {std::size_t{10}, std::size_t{100}, std::size_t{1000}}) {
      const std::size_t some = std::min(rest.size(), kScans * puts);
      mix(other, rest.first(some), puts);
      rest = rest.subspan(some);
    }
  }

 private:
  template <typename Work>
  void add(const std::string& column, std::size_t count, const Work& work) {
    table_.add(Memtable::name(), column, nanoseconds(work) / static_cast<double>(count));
  }
  void insert(Memtable& memtable, std::span<const Input::Put> puts) {
    for (const Input::Put& put : puts) {
      store_le(value_.data(), put.mark);
      memtable.insert(put.key, value_, ++sequence_, put.hash);
    }
  }
  void add_bytes(const std::string& column, std::size_t bytes) {
    table_.add(Memtable::name(), column, static_cast<double>(bytes) / static_cast<double>(input_.puts.size()));
  }

  /// Random keys in batches, copied together outside the clock; each get waits for the one before. Absent keys are
  /// present ones with the last byte changed; nothing waits for their answers, since "no" is guessed.
  void get(const Memtable& memtable) {
    double present = 0;
    double absent = 0;
    const std::size_t batches = std::max<std::size_t>(1, std::min(kMostGets, input_.puts.size()) / kBatch);
    for (std::size_t batch = 0; batch < batches; ++batch) {
      Batch queries(input_, batch);
      present += nanoseconds([&] { get_present(memtable, queries.puts); });
      queries.make_absent();
      absent += nanoseconds([&] { get_absent(memtable, queries.puts); });
    }
    table_.add(Memtable::name(), "get", present / static_cast<double>(batches * kBatch));
    table_.add(Memtable::name(), "get absent", absent / static_cast<double>(batches * kBatch));
  }
  [[gnu::noinline]] static void get_present(const Memtable& memtable, std::span<const Input::Put> puts) {
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < puts.size(); ++i) {
      const Input::Put& put = puts[i + wrong];
      const Record* found = memtable.find(put.key, put.hash);
      TAMIS_CHECK(found != nullptr);
      wrong |= load_le<std::uint64_t>(found->value().data()) ^ put.mark;
    }
    TAMIS_CHECK(wrong == 0);
  }
  [[gnu::noinline]] static void get_absent(const Memtable& memtable, std::span<const Input::Put> puts) {
    for (const Input::Put& put : puts) TAMIS_CHECK(memtable.find(put.key, remix(put.hash)) == nullptr);
  }
  /// Everything in order: the keys must be those of the sorted set.
  void walk(Memtable& memtable) {
    std::size_t number = 0;
    std::uint64_t sum = 0;
    memtable.scan("", input_.puts.size(), [&](const Record& record) {
      sum += load_le<std::uint64_t>(record.value().data()) ^ value_mark(number);
      TAMIS_CHECK(record.key() == input_.set.keys[number++]);
    });
    TAMIS_CHECK(sum == 0 && number == input_.puts.size());
  }
  /// Scans of 100 entries between puts; the cost per put with its share of a scan.
  void mix(Memtable& memtable, std::span<const Input::Put> puts, std::size_t puts_per_scan) {
    if (puts.empty()) return;
    std::uint64_t sum = 0;
    memtable.scan("", 1, [](const Record&) {});
    add(fmt::format("scan per {}", puts_per_scan), puts.size(), [&] {
      for (std::size_t at = 0; at < puts.size(); at += puts_per_scan) {
        insert(memtable, puts.subspan(at, std::min(puts_per_scan, puts.size() - at)));
        memtable.scan(input_.puts[fast_range(remix(at), input_.puts.size())].key, kScanLength,
                      [&](const Record& record) { sum += record.key().size() + record.value().size(); });
      }
    });
    report_.checksum += sum;
  }

  const Input& input_;
  Table& table_;
  Report& report_;
  std::string value_;
  std::uint64_t sequence_ = 0;
};

void run_size(const Settings& settings, const std::string& shape, std::size_t count, Report& report) {
  const Input input(shape, count);
  Table table(fmt::format("Memtable of {} entries, keys of shape '{}'; ns, median [lowest-highest]", count, shape));
  for (int round = 0; round < settings.rounds; ++round) {
    Contestant<SkipList>(input, table, report).run_round();
    Contestant<HashMemtable<Sorter::kStandard>>(input, table, report).run_round();
    Contestant<HashMemtable<Sorter::kRadix>>(input, table, report).run_round();
    Contestant<HashMemtable<Sorter::kBuckets>>(input, table, report).run_round();
  }
  table.print();
  report.tables.push_back(std::move(table));
}

}  // namespace

Report bench_memtable(const Settings& settings) {
  Report report;
  run_size(settings, "binary", std::min<std::size_t>(settings.entries / 10, 500'000), report);
  run_size(settings, "url", std::min<std::size_t>(settings.entries / 10, 500'000), report);
  run_size(settings, "binary", std::min<std::size_t>(settings.entries * 2 / 5, 2'000'000), report);
  return report;
}

}  // namespace tamis::layout
