// Gets that keep the value alive instead of copying it to the caller.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/fork_generation.h"
#include "engine/never_throws.h"
#include "engine/reader_lookup.h"

namespace tamis {
namespace {

/// What get_pinned does with it. Up to 16 KiB a copy is cheaper than another lookup, which pins the block, and two
/// locks of a cache's shard; and it needs neither the block nor the store.
struct CopyIfSmall {
  static constexpr bool kReads = true;
  static constexpr std::size_t kMaxBytes = std::size_t{16} << 10;

  Status operator()(std::string_view bytes) const {
    if (bytes.size() > kMaxBytes) {
      if (may_read_again) return assign_bytes(room(), bytes);
      is_large = true;
      return {};
    }
    auto copy = std::make_shared_for_overwrite<char[]>(bytes.size());
    std::ranges::copy(bytes, copy.get());
    const std::string_view copied(copy.get(), bytes.size());
    value = PinnedValue(copied, std::move(copy));
    return {};
  }
  /// For a value that is apart, which is in no block, and for a large copy.
  [[nodiscard]] std::string& room() const { return *(apart = std::make_shared<std::string>()); }

  PinnedValue& value;
  bool& is_large;
  std::shared_ptr<std::string>& apart;
  const bool may_read_again;  // The second lookup, because the first leaves no block in the cache.
};

/// What a PinnedValue keeps alive.
struct Kept {
  explicit Kept(std::shared_ptr<const void> store) : owner(std::move(store)) {}
  ~Kept() {
    if (known_fork_generation.load(std::memory_order_relaxed) == generation) return;
    leave_to_parent(std::move(memtables));
    leave_to_parent(std::move(pin));
    leave_to_parent(std::move(owner));
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  const std::uint64_t generation = known_fork_generation.load(std::memory_order_relaxed);
  std::shared_ptr<const void> owner;                 // Destroyed last: its cache has the block.
  std::vector<std::shared_ptr<Memtable>> memtables;  // For a value in a memtable. The version is not kept.
  PinnedBlock pin;
  std::string value;  // One that is apart from its table, or a fold.
};

}  // namespace

Result<bool> Reader::get_if_small(std::string_view key, PinnedValue& value, const ReadOptions& options,
                                  bool& is_large) {
  NoSteps none;
  std::shared_ptr<std::string> apart;
  is_large = false;
  const auto peek = [&] { return view_.peek_at([&] { return sequence_for(options.snapshot); }); };
  TAMIS_TRY(const bool found,
            look_up(key, options, peek, none, CopyIfSmall{value, is_large, apart, !options.fills_cache}));
  if (apart != nullptr) [[unlikely]] {
    const std::string_view whole = *apart;
    value = PinnedValue(whole, std::move(apart));
  }
  return found;
}

/// A large value in a table needs a pinned block, so there is no lookup in memory alone.
Result<std::optional<PinnedValue>> Reader::get_pinned(std::string_view key, const ReadOptions& options,
                                                      std::shared_ptr<const void> owner, const KeptView& moment,
                                                      bool is_counted) {
  auto kept = std::make_shared<Kept>(std::move(owner));
  StagedLookup staged;
  staged.lookup = {.key = key, .hash = hasher_(key), .sequence = moment.sequence};
  NoSteps none;
  if (ask_memtables(*moment.view, staged, none)) {
    kept->memtables = moment.view->sealed;
    kept->memtables.push_back(moment.view->active);
  } else {
    DiskLookup disk(staged);
    moment.view->version->find({&disk, 1}, options.fills_cache, none);
    if (!disk.status.ok()) return disk.status;
    kept->pin = std::move(disk.pin);
  }
  if (lacks_range_deletes(*moment.view, staged)) moment.view->version->range_deletes()->read_again();
  std::string_view value;
  TAMIS_TRY(const Visible meaning, meaning_in(*moment.view, staged, options, none, value));
  if (meaning == Visible::kApart) {
    TAMIS_TRY_STATUS(read_apart(*moment.view->version, key, value, none, kept->value));
    value = kept->value;
  }
  if (meaning == Visible::kOperand) {
    const std::uint64_t time = time_for(options.snapshot);
    TAMIS_TRY_STATUS(fold(*moment.view, staged.lookup, time, options.fills_cache, none, kept->value));
    value = kept->value;
  }
  const bool is_value = meaning != Visible::kDeleted;
  if (!is_counted) count_get(staged, is_value);
  if (!is_value) return std::optional<PinnedValue>();
  return std::optional<PinnedValue>(PinnedValue(value, std::move(kept)));
}

}  // namespace tamis
