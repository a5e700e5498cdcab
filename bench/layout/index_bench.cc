// The sparse index: from a key to the number of the block that may hold it.
#include <memory>

#include "base/check.h"
#include "layout/flat_index.h"
#include "layout/group_index.h"
#include "layout/layered_index.h"
#include "layout/samples.h"

namespace tamis::layout {
namespace {

constexpr std::size_t kEntriesPerBlock = 33;
constexpr std::size_t kQueries = 4096;
constexpr int kBatches = 32;

struct Query {
  std::string_view key;
  std::size_t block;
};

class Contestant {
 public:
  virtual ~Contestant() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  /// 0 where the file holds what another contestant's does.
  [[nodiscard]] virtual std::size_t file_bytes() const = 0;
  virtual std::size_t answer(std::span<const Query> queries) const = 0;
};

template <typename Index>
class IndexContestant : public Contestant {
 public:
  explicit IndexContestant(std::span<const std::string> separators) : index_(separators) {}
  [[nodiscard]] std::string name() const override { return Index::name(); }
  [[nodiscard]] std::size_t bytes() const override { return index_.bytes(); }
  [[nodiscard]] std::size_t file_bytes() const override {
    if constexpr (requires { index_.file_bytes(); }) return index_.file_bytes();
    return 0;
  }
  /// As in block_bench.cc each query waits for the answer before; the sum of the errors is returned.
  [[gnu::noinline]] std::size_t answer(std::span<const Query> queries) const override {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const Query& query = queries[i + wrong];
      wrong |= index_.find(query.key) ^ query.block;
    }
    return wrong;
  }

 private:
  Index index_;
};

/// Random present keys, packed, so that reading them costs nothing.
struct Questions {
  Questions(const KeySet& set, std::uint64_t seed) {
    text.reserve(kQueries * kMostKeyBytes);
    for (std::size_t i = 0; i < kQueries; ++i) {
      const std::size_t number = fast_range(remix(seed * kQueries + i), set.keys.size());
      const std::size_t begin = text.size();
      text += set.keys[number];
      queries.push_back({std::string_view(text).substr(begin), number / kEntriesPerBlock});
    }
  }
  std::string text;
  std::vector<Query> queries;
};

std::vector<std::unique_ptr<Contestant>> make_contestants(const Settings& settings,
                                                          std::span<const std::string> separators) {
  std::vector<std::unique_ptr<Contestant>> all;
  const auto add = [&]<typename Index>(std::type_identity<Index>) {
    if (settings.wants(Index::name())) all.push_back(std::make_unique<IndexContestant<Index>>(separators));
  };
  add(std::type_identity<SeparatorIndex>());
  add(std::type_identity<LineTreeIndex>());
  add(std::type_identity<GroupIndex<GroupSearch::kBinary>>());
  add(std::type_identity<GroupIndex<GroupSearch::kPrefetched>>());
  add(std::type_identity<GroupIndex<GroupSearch::kWhole>>());
  add(std::type_identity<GroupIndex<GroupSearch::kWhole, 64>>());
  add(std::type_identity<GroupIndex<GroupSearch::kWhole, 32>>());
  add(std::type_identity<GroupIndex<GroupSearch::kWhole, 16>>());
  add(std::type_identity<GroupIndex<GroupSearch::kLines>>());
  add(std::type_identity<GroupIndex<GroupSearch::kInterpolated>>());
  add(std::type_identity<LayeredIndex>());
  return all;
}

void run_shape(const Settings& settings, const std::string& shape, Report& report) {
  const KeySet set = make_key_set(shape, settings.entries);
  std::vector<std::uint32_t> first;
  for (std::size_t i = 0; i < set.keys.size(); i += kEntriesPerBlock) first.push_back(static_cast<std::uint32_t>(i));
  const std::vector<std::string> separators = make_separators(set.keys, first);
  const std::vector<std::unique_ptr<Contestant>> all = make_contestants(settings, separators);
  Table table(fmt::format("Index of {} blocks, keys of shape '{}'; ns, median [lowest-highest]", first.size(), shape));
  for (const std::unique_ptr<Contestant>& one : all) {
    const auto blocks = static_cast<double>(first.size());
    table.add(one->name(), "memory/block", static_cast<double>(one->bytes()) / blocks);
    if (one->file_bytes() != 0) table.add(one->name(), "file/block", static_cast<double>(one->file_bytes()) / blocks);
  }
  for (int round = 0; round < settings.rounds; ++round) {
    std::vector<double> spent(all.size());
    for (int batch = 0; batch < kBatches; ++batch) {
      const Questions questions(set, static_cast<std::uint64_t>(round * kBatches + batch));
      report.checksum += questions.queries.back().block;
      for (std::size_t i = 0; i < all.size(); ++i) {
        std::size_t wrong = 0;
        spent[i] += nanoseconds([&] { wrong = all[i]->answer(questions.queries); });
        TAMIS_CHECK(wrong == 0);
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) table.add(all[i]->name(), "find", spent[i] / (kBatches * kQueries));
  }
  table.print();
  report.tables.push_back(std::move(table));
}

}  // namespace

Report bench_index(const Settings& settings) {
  Report report;
  for (const std::string& shape : key_set_names()) run_shape(settings, shape, report);
  return report;
}

}  // namespace tamis::layout
