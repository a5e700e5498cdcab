// Index and block together, out of the caches: what a get and a seek of one table cost below filter and cache.
#include <memory>

#include "layout/block_image.h"
#include "layout/column_block.h"
#include "layout/flat_index.h"
#include "layout/group_index.h"
#include "layout/layered_index.h"
#include "layout/prefix_block.h"
#include "layout/restart_block.h"
#include "layout/samples.h"

namespace tamis::layout {
namespace {

constexpr std::size_t kQueries = 4096;
constexpr int kBatches = 16;
constexpr std::size_t kScanLength = 100;

struct Query {
  std::string_view key;
  std::size_t number;
};

/// Random present keys, packed, so that reading them costs nothing.
struct Questions {
  Questions(const KeySet& set, std::uint64_t seed) {
    text.reserve(kQueries * kMostKeyBytes);
    for (std::size_t i = 0; i < kQueries; ++i) {
      const std::size_t number = fast_range(remix(~(seed * kQueries + i)), set.keys.size());
      const std::size_t begin = text.size();
      text += set.keys[number];
      queries.push_back({std::string_view(text).substr(begin), number});
    }
  }
  std::string text;
  std::vector<Query> queries;
};

/// Beside each head: where the cached block is.
struct Slot {
  const char* block;
  std::uint32_t size;
};

class Contestant {
 public:
  virtual ~Contestant() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// The sum of errors; each get waits for the answer before.
  virtual std::uint64_t get(std::span<const Query> queries) const = 0;
  /// Seeks, then visits `length` entries.
  virtual std::uint64_t scan(std::span<const Query> queries, std::size_t length, std::uint64_t& checksum) const = 0;
};

template <typename Block, typename Index>
class PathContestant : public Contestant {
 public:
  PathContestant(std::shared_ptr<const BlockImage> image, std::span<const std::string> separators)
      : image_(std::move(image)), index_(separators) {
    for (std::size_t i = 0; i < image_->places.size(); ++i) {
      const std::string_view block = image_->block(i);
      slots_.push_back({block.data(), static_cast<std::uint32_t>(block.size())});
    }
  }
  [[nodiscard]] std::string name() const override { return fmt::format("{}; {}", Block::kName, Index::name()); }

  [[gnu::noinline]] std::uint64_t get(std::span<const Query> queries) const override {
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const Query& query = queries[i + wrong];
      const std::uint64_t hash = hash_of(query.key);
      const Slot& slot = slots_[index_.find(query.key)];
      const Found found = Block::find({slot.block, slot.size}, query.key, hash);
      TAMIS_CHECK(found.value != nullptr);
      wrong |= load_le<std::uint64_t>(found.value) ^ value_mark(query.number);
    }
    return wrong;
  }

  [[gnu::noinline]] std::uint64_t scan(std::span<const Query> queries, std::size_t length,
                                       std::uint64_t& checksum) const override {
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const Query& query = queries[i + wrong];
      std::size_t number = index_.find(query.key);
      typename Block::Cursor cursor({slots_[number].block, slots_[number].size});
      cursor.seek(query.key);
      TAMIS_CHECK(cursor.valid());
      wrong |= load_le<std::uint64_t>(cursor.value().data()) ^ value_mark(query.number);
      checksum += visit(cursor, number, length);
    }
    return wrong;
  }

 private:
  std::uint64_t visit(typename Block::Cursor& cursor, std::size_t number, std::size_t length) const {
    std::uint64_t sum = 0;
    while (true) {
      for (; cursor.valid() && length > 0; cursor.next(), --length) {
        sum += load_le<std::uint64_t>(cursor.value().data()) ^ static_cast<unsigned char>(cursor.key().back());
      }
      if (length == 0 || ++number == slots_.size()) return sum;
      cursor = typename Block::Cursor({slots_[number].block, slots_[number].size});
      cursor.first();
    }
  }

  std::shared_ptr<const BlockImage> image_;
  Index index_;
  std::vector<Slot> slots_;
};

/// Builds one image and a contestant per index for it.
template <typename Block, typename... Indexes>
void add_contestants(const KeySet& set, std::vector<std::unique_ptr<Contestant>>& all) {
  const auto image = std::make_shared<const BlockImage>(build_image<Block>(set));
  std::vector<std::uint32_t> first;
  for (const BlockPlace& place : image->places) first.push_back(place.first_entry);
  const std::vector<std::string> separators = make_separators(set.keys, first);
  (all.push_back(std::make_unique<PathContestant<Block, Indexes>>(image, separators)), ...);
}

/// Nanoseconds per query. Every measurement asks for other keys: what the one before looked at may still be cached.
template <typename Ask>
double measure(const KeySet& set, std::size_t count, Report& report, const Ask& ask) {
  static std::uint64_t seed = 0;
  double spent = 0;
  std::uint64_t wrong = 0;
  for (int batch = 0; batch < kBatches; ++batch) {
    const Questions questions(set, ++seed);
    const std::span<const Query> some = std::span(questions.queries).first(count);
    spent += nanoseconds([&] { wrong |= ask(some); });
    report.checksum += some.back().number;
  }
  TAMIS_CHECK(wrong == 0);
  return spent / static_cast<double>(count * kBatches);
}

void run_shape(const Settings& settings, const std::string& shape, Report& report) {
  const KeySet set = make_key_set(shape, settings.entries);
  std::vector<std::unique_ptr<Contestant>> all;
  add_contestants<RestartBlock, SeparatorIndex>(set, all);
  add_contestants<PrefixBlock<Finder::kTags, false>, GroupIndex<GroupSearch::kWhole>>(set, all);
  add_contestants<ColumnBlock, GroupIndex<GroupSearch::kWhole>>(set, all);
  add_contestants<PrefixBlock<Finder::kTags, true>, SeparatorIndex, LineTreeIndex, GroupIndex<GroupSearch::kBinary>,
                  GroupIndex<GroupSearch::kPrefetched>, GroupIndex<GroupSearch::kWhole>,
                  GroupIndex<GroupSearch::kLines>, GroupIndex<GroupSearch::kInterpolated>, LayeredIndex>(set, all);
  Table table(
      fmt::format("Index and block, {} keys of shape '{}'; ns, median [lowest-highest]", set.keys.size(), shape));
  for (int round = 0; round < settings.rounds; ++round) {
    for (const std::unique_ptr<Contestant>& one : all) {
      table.add(one->name(), "get", measure(set, kQueries, report, [&](auto queries) { return one->get(queries); }));
      table.add(one->name(), "seek + 1",
                measure(set, kQueries, report, [&](auto queries) { return one->scan(queries, 1, report.checksum); }));
      table.add(one->name(), "seek + 100", measure(set, kQueries / 8, report, [&](auto queries) {
                  return one->scan(queries, kScanLength, report.checksum);
                }));
    }
  }
  table.print();
  report.tables.push_back(std::move(table));
}

}  // namespace

Report bench_path(const Settings& settings) {
  Report report;
  for (const char* shape : {"binary", "url"}) run_shape(settings, shape, report);
  return report;
}

}  // namespace tamis::layout
