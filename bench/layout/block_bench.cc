// Data blocks: how large, how fast to build, to look into and to walk.
#include <memory>

#include "layout/block_image.h"
#include "layout/column_block.h"
#include "layout/prefix_block.h"
#include "layout/restart_block.h"
#include "layout/samples.h"

namespace tamis::layout {
namespace {

constexpr std::size_t kQueries = 4096;
constexpr int kBatches = 24;
constexpr std::size_t kHotEntries = 2000;  // About 60 blocks: they stay in a second-level cache of 1 MiB.
constexpr std::size_t kBuildEntries = 200'000;
constexpr std::size_t kScanEntries = 1'000'000;
constexpr std::uint64_t kFreshSequences = 500'000;  // The span of one memtable.

struct Query {
  std::string_view block;
  std::string_view key;
  std::uint64_t hash;
  std::uint64_t mark;
};

const volatile std::uint64_t kZeroUnknown = 0;
const std::uint64_t kZero = kZeroUnknown;  // Zero, but the compiler does not know it.

enum class Ask { kPresent, kAbsent, kSeek };

/// Each query waits for the answer to the one before, as a caller would: its number is computed from that answer.
/// Returns how many were answered wrongly, which is also what is added to the next number.
template <typename Block>
[[gnu::noinline]] std::uint64_t answer_all(std::span<const Query> queries, Ask ask, std::uint64_t& checksum) {
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const Query& query = queries[i + wrong];
    if (ask == Ask::kSeek) {
      typename Block::Cursor cursor(query.block);
      cursor.seek(query.key);
      TAMIS_CHECK(cursor.valid() && cursor.key() == query.key);
      wrong |= load_le<std::uint64_t>(cursor.value().data()) ^ query.mark;
      checksum += cursor.value().size();
      continue;
    }
    const Found found = Block::find(query.block, query.key, query.hash);
    if (ask == Ask::kAbsent) {
      // "Not here" is guessed before the block has arrived; the next query is made to wait for its first line.
      wrong |= reinterpret_cast<std::uintptr_t>(found.value) | (load_le<std::uint64_t>(query.block.data()) & kZero);
      continue;
    }
    TAMIS_CHECK(found.value != nullptr);
    wrong |= load_le<std::uint64_t>(found.value) ^ query.mark;
    checksum += static_cast<unsigned char>(found.value[found.size - 1]);
  }
  return wrong;
}

/// The least a lookup can do: one line that depends on the answer before, or two that depend on each other.
struct Floor {
  static std::uint64_t run(std::span<const Query> queries, bool second) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const Query& query = queries[i + (sum & kZero)];
      sum += load_le<std::uint64_t>(query.block.data());
      if (!second) continue;
      const std::size_t at = 256 + query.mark % (query.block.size() - 300) + (sum & kZero);
      sum += load_le<std::uint64_t>(query.block.data() + at);
    }
    return sum;
  }
};

/// One candidate with the image it made.
class Contestant {
 public:
  explicit Contestant(std::string name) : name_(std::move(name)) {}
  virtual ~Contestant() = default;
  [[nodiscard]] const std::string& name() const { return name_; }

  virtual void measure_build(const KeySet& set, std::uint64_t sequences, Table& table) = 0;
  virtual void build(const KeySet& set) = 0;
  virtual std::uint64_t answer(std::span<const Query> queries, Ask ask, std::uint64_t& checksum) const = 0;
  virtual double scan(std::size_t first_block, std::size_t entries, std::uint64_t& sum) const = 0;
  [[nodiscard]] const BlockImage& image() const { return image_; }

 protected:
  BlockImage image_;

 private:
  std::string name_;
};

template <typename Block>
class BlockContestant : public Contestant {
 public:
  BlockContestant() : Contestant(Block::kName) {}

  /// Making the entries is timed again without building blocks of them, and subtracted.
  void measure_build(const KeySet& set, std::uint64_t sequences, Table& table) override {
    EntryWindow window(set, sequences);
    const std::size_t end = std::min(kBuildEntries, set.keys.size());
    std::string text;
    std::uint64_t bytes = 0;
    std::vector<std::size_t> firsts = {0};
    const double both = nanoseconds([&] {
      while (firsts.back() < end) {
        text.clear();
        firsts.push_back(firsts.back() + Block::build(window.at(firsts.back()), text));
        bytes += text.size() + kTrailerBytes;
      }
    });
    const auto entries = static_cast<double>(firsts.back());
    if (sequences != 0) return table.add(name(), "bytes fresh", static_cast<double>(bytes) / entries);
    firsts.pop_back();
    const double entries_alone = nanoseconds([&] {
      for (const std::size_t first : firsts) checksum_ += window.at(first).back().hash;
    });
    table.add(name(), "build", (both - entries_alone) / entries);
  }

  void build(const KeySet& set) override { image_ = build_image<Block>(set); }

  std::uint64_t answer(std::span<const Query> queries, Ask ask, std::uint64_t& checksum) const override {
    return answer_all<Block>(queries, ask, checksum);
  }

  double scan(std::size_t first_block, std::size_t entries, std::uint64_t& sum) const override {
    std::size_t seen = 0;
    const double spent = nanoseconds([&] {
      for (std::size_t number = first_block; seen < entries && number < image_.places.size(); ++number) {
        typename Block::Cursor cursor(image_.block(number));
        for (cursor.first(); cursor.valid() && seen < entries; cursor.next(), ++seen) {
          sum += load_le<std::uint64_t>(cursor.value().data()) ^ static_cast<unsigned char>(cursor.key().back());
        }
      }
    });
    return spent / static_cast<double>(seen);
  }

 private:
  std::uint64_t checksum_ = 0;
};

std::vector<std::unique_ptr<Contestant>> make_contestants(const Settings& settings) {
  std::vector<std::unique_ptr<Contestant>> all;
  const auto add = [&]<typename Block>(Block) {
    if (settings.wants(Block::kName)) all.push_back(std::make_unique<BlockContestant<Block>>());
  };
  add(RestartBlock());
  add(PrefixBlock<Finder::kBinary, false>());
  add(PrefixBlock<Finder::kTags, false>());
  add(PrefixBlock<Finder::kHash, false>());
  add(PrefixBlock<Finder::kBinary, true>());
  add(PrefixBlock<Finder::kTags, true>());
  add(ColumnBlock());
  return all;
}

/// Keys of the same entries for every contestant; an absent key is a present one with a byte more.
class Questions {
 public:
  Questions(const KeySet& set, std::size_t entries, std::uint64_t seed, bool absent) {
    for (std::size_t i = 0; i < kQueries; ++i) {
      numbers_.push_back(fast_range(remix(seed * kQueries + i), entries));
      text_ += set.keys[numbers_.back()];
      if (absent) text_ += 'x';
      ends_.push_back(text_.size());
    }
  }
  /// With room behind for queries that were answered wrongly to reach into.
  [[nodiscard]] std::vector<Query> in(const BlockImage& image) const {
    std::vector<Query> queries;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < kQueries; ++i) {
      const std::string_view key = std::string_view(text_).substr(begin, ends_[i] - begin);
      begin = ends_[i];
      queries.push_back({image.block(image.block_of(numbers_[i])), key, hash_of(key), value_mark(numbers_[i])});
    }
    return queries;
  }

 private:
  std::vector<std::size_t> numbers_;
  std::string text_;
  std::vector<std::size_t> ends_;
};

class Section {
 public:
  Section(const Settings& settings, const std::string& shape, std::size_t entries, Report& report)
      : settings_(settings), report_(report), set_(make_key_set(shape, entries)), all_(make_contestants(settings)) {}

  void run() {
    Table table(fmt::format("Data block, {} keys of shape '{}', values of {} bytes; ns, median [lowest-highest]",
                            set_.keys.size(), set_.name, kValueBytes));
    for (const std::unique_ptr<Contestant>& one : all_) {
      one->build(set_);
      const double bytes = static_cast<double>(one->image().file_bytes());
      table.add(one->name(), "bytes/entry", bytes / static_cast<double>(set_.keys.size()));
      one->measure_build(set_, kFreshSequences, table);
    }
    for (int round = 0; round < settings_.rounds; ++round) {
      for (const std::unique_ptr<Contestant>& one : all_) one->measure_build(set_, 0, table);
      ask(table, "find hot", Ask::kPresent, kHotEntries, round);
      ask(table, "find cold", Ask::kPresent, set_.keys.size(), round);
      ask(table, "absent cold", Ask::kAbsent, set_.keys.size(), round);
      ask(table, "seek hot", Ask::kSeek, kHotEntries, round);
      ask(table, "seek cold", Ask::kSeek, set_.keys.size(), round);
      floor(table, round);
      scan(table, round);
    }
    table.print();
    report_.tables.push_back(std::move(table));
  }

 private:
  void ask(Table& table, const std::string& column, Ask ask, std::size_t entries, int round) {
    std::vector<double> spent(all_.size());
    entries = std::min(entries, set_.keys.size());
    for (int batch = 0; batch < kBatches; ++batch) {
      const auto seed = static_cast<std::uint64_t>(round * kBatches + batch) * 3 + static_cast<std::uint64_t>(ask);
      const Questions questions(set_, entries, seed, ask == Ask::kAbsent);
      for (std::size_t i = 0; i < all_.size(); ++i) {
        const std::vector<Query> queries = questions.in(all_[i]->image());
        std::uint64_t wrong = 0;
        spent[i] += nanoseconds([&] { wrong = all_[i]->answer(queries, ask, report_.checksum); });
        TAMIS_CHECK(wrong == 0);
      }
    }
    for (std::size_t i = 0; i < all_.size(); ++i) table.add(all_[i]->name(), column, spent[i] / (kBatches * kQueries));
  }

  void floor(Table& table, int round) {
    for (const bool second : {false, true}) {
      const auto seed = static_cast<std::uint64_t>(round) * 2 + 1'000'000 + (second ? 1 : 0);
      const Questions questions(set_, set_.keys.size(), seed, false);
      const std::vector<Query> queries = questions.in(all_.front()->image());
      const double spent = nanoseconds([&] { report_.checksum += Floor::run(queries, second); });
      table.add(second ? "(floor: two lines)" : "(floor: one line)", "find cold", spent / kQueries);
    }
  }

  void scan(Table& table, int round) {
    const std::size_t entries = std::min(kScanEntries, set_.keys.size());
    std::vector<std::uint64_t> sums(all_.size());
    for (std::size_t i = 0; i < all_.size(); ++i) {
      table.add(all_[i]->name(), "scan", all_[i]->scan(0, entries, sums[i]));
      TAMIS_CHECK(sums[i] == sums[0]);
    }
    report_.checksum += sums.empty() ? 0 : sums[0] + static_cast<std::uint64_t>(round);
  }

  const Settings& settings_;
  Report& report_;
  KeySet set_;
  std::vector<std::unique_ptr<Contestant>> all_;
};

/// The vector bodies of this machine against the plain loops.
void check_simd() {
  std::array<char, 256> bytes = {};
  std::array<std::uint64_t, 128> numbers = {};
  for (std::uint64_t i = 0; i < 1000; ++i) {
    for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<char>(remix(i * 256 + at) & 15);
    for (std::size_t at = 0; at < numbers.size(); ++at) numbers[at] = remix(i * 128 + at);
    const auto small = static_cast<std::uint16_t>(i & 15);
    const std::size_t count = i % 96;
    TAMIS_CHECK(simd().match_bytes(bytes.data(), static_cast<std::uint8_t>(small)) ==
                plain_simd().match_bytes(bytes.data(), static_cast<std::uint8_t>(small)));
    TAMIS_CHECK(simd().count_below16(bytes.data(), count, static_cast<std::uint16_t>(small << 8)) ==
                plain_simd().count_below16(bytes.data(), count, static_cast<std::uint16_t>(small << 8)));
    TAMIS_CHECK(simd().count_up_to64(numbers.data(), count / 8 * 8, remix(i)) ==
                plain_simd().count_up_to64(numbers.data(), count / 8 * 8, remix(i)));
  }
}

}  // namespace

Report bench_blocks(const Settings& settings) {
  check_simd();
  Report report;
  for (const std::string& shape : key_set_names()) {
    const std::size_t entries =
        shape == "binary" ? settings.entries : std::min<std::size_t>(settings.entries, 1'000'000);
    Section(settings, shape, entries, report).run();
  }
  return report;
}

}  // namespace tamis::layout
