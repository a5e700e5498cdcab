// What a user sees of the entries: the keys and values of one moment.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "entry/apart_values.h"
#include "entry/empty_range_watch.h"
#include "entry/entry_iterator.h"
#include "entry/key_range.h"
#include "entry/operand_chain.h"
#include "entry/visible.h"

namespace tamis {

/// Iterates in both directions over the keys of a range as of a moment: for each key, the newest version at or below
/// its sequence, omitting keys for which that is not a value (entry/visible.h).
///
/// Forwards, the source is on the version shown, and its key is copied on leaving it, unless the source has the next
/// entry ready in the same array. Backwards, where the newest version of a key comes last, the source has passed the
/// version shown, so key and value are copied. Both buffers are reused: a step allocates only while they grow. A key
/// with merge operands is shown with their fold, which is a copy in both directions. If they cannot be folded, that is
/// the error; a seek beyond the key goes on.
///
/// Invariants:
///  1. valid() implies that key() is in the range, and status().ok().
///  2. Valid, kOnIt: the source is on the version shown.
///  3. Valid, otherwise: key_ and value_ are the buffers. kBefore: the source is before every version of key(), or on
///     nothing. kAfter: it is after the newest version of key() that is visible, perhaps beyond the key or the end.
///  4. The range does not change; a seek outside it goes to the nearest key inside in its direction, if any.
///
/// Threads: one at a time. What the source iterates over must outlive it.
class VisibleIterator {
 public:
  /// `values` reads those that are apart; null if the source has none. The operator and the watch, which may be null,
  /// outlive this.
  VisibleIterator(std::unique_ptr<EntryIterator> source, Moment moment, KeyRange range,
                  std::unique_ptr<ApartValues> values = nullptr, const MergeOperator* merge_operator = nullptr,
                  EmptyRangeWatch* watch = nullptr);

  [[nodiscard]] bool valid() const { return valid_; }
  /// Both live until this iterator moves.
  [[nodiscard]] std::string_view key() const {
    TAMIS_INVARIANT(valid_);
    return key_;
  }
  [[nodiscard]] std::string_view value() const {
    TAMIS_INVARIANT(valid_);
    return value_;
  }
  /// When the value expires; 0 if it does not.
  [[nodiscard]] std::uint64_t due() const {
    TAMIS_INVARIANT(valid_);
    return place_ == SourcePlace::kOnIt ? due_of(source_->entry()) : saved_due_;
  }
  /// Why it is not valid: ok at either end, otherwise the error. A seek clears it.
  [[nodiscard]] const Status& status() const { return status_; }

  /// To the first key at or after this one.
  void seek(std::string_view key);
  /// To the last key before this one.
  void seek_before(std::string_view key);
  /// To the last key at or before this one.
  void seek_at_or_before(std::string_view key);
  void seek_to_first();
  void seek_to_last();
  /// Both require valid().
  void next() {
    TAMIS_INVARIANT(valid_);
    if (place_ != SourcePlace::kOnIt) [[unlikely]]
      return next_anyhow();
    const std::string_view before = key_;  // Stays valid: it is in the same array as the ready entries.
    while (source_->has_ready()) {
      source_->step();
      const Entry& entry = source_->entry();
      if (!is_plain_value(entry, moment_.sequence)) [[unlikely]]
        return next_of_any_kind(before);
      if (is_same_key(entry.key, before)) continue;
      if (range_.ends_before(entry.key)) [[unlikely]]
        return find_after(before);
      key_ = entry.key;
      value_ = entry.value;
      return;
    }
    next_anyhow();
  }
  void previous();

 private:
  /// Of the source, relative to the versions of the key shown.
  enum class SourcePlace : std::uint8_t { kOnIt, kBefore, kAfter };
  /// Where a search forwards begins: after a key, all its versions are skipped.
  enum class Begin : std::uint8_t { kRange, kSavedKey, kAfterSavedKey };

  /// What most scans do not need.
  struct Rare {
    OperandChain operands;
    std::string apart_value;
    std::string gap_from;  // While a search forwards passes deleted keys: where it began.
  };

  Rare& rare() {
    if (rare_ == nullptr) rare_ = std::make_unique<Rare>();
    return *rare_;
  }
  OperandChain& operands() { return rare().operands; }
  [[nodiscard]] bool has_operands() const { return rare_ != nullptr && !rare_->operands.empty(); }
  void forget_operands() {
    if (rare_ != nullptr) rare_->operands.clear();
  }
  /// Most different keys of equal length differ in their last eight bytes.
  static bool is_same_key(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    if (a.size() >= 8) [[likely]] {
      const std::size_t last = a.size() - 8;
      if (load_le<std::uint64_t>(a.data() + last) != load_le<std::uint64_t>(b.data() + last)) return false;
    }
    return a == b;
  }
  static std::uint64_t due_of(const Entry& shown) {
    const Entry entry = shown.plain();
    return expires(entry.kind) ? load_expiring(entry.value).due : 0;
  }
  void next_anyhow();
  void next_of_any_kind(std::string_view before);
  void find_after(std::string_view key);
  void find_forwards(Begin begin);
  void begin_gap(Begin begin);
  void tell_gap(Begin begin, std::uint64_t deleted, std::optional<std::string_view> to);
  void find_backwards();
  Status add_newer_operand(const Entry& entry, std::string_view operand, bool has_older, bool is_apart);
  void fold_forwards();
  void show_fold(SourcePlace place);
  void seek_backwards(std::string_view key, Sequence sequence);
  void show(std::string_view key, std::string_view value, SourcePlace place);
  void show_apart(std::string_view key, std::string_view pointer, SourcePlace place);
  Status add_beneath(std::string_view pointer, Sequence sequence);
  void show_end();
  void show_error(Status why);

  const Moment moment_;
  const KeyRange range_;
  std::unique_ptr<EntryIterator> source_;
  Status status_;
  SourcePlace place_ = SourcePlace::kOnIt;
  bool valid_ = false;
  std::string_view key_;
  std::string_view value_;
  std::string saved_key_;  // On it: the key whose remaining versions are skipped. Otherwise: the key shown.
  std::string saved_value_;
  std::uint64_t saved_due_ = 0;   // Unless on it.
  Sequence saved_sequence_ = {};  // While going backwards: of saved_value_.
  std::unique_ptr<ApartValues> values_;
  const MergeOperator* const merge_operator_;
  EmptyRangeWatch* const watch_;
  const std::uint64_t min_deleted_;  // A search that passes fewer keys tells nothing.
  std::unique_ptr<Rare> rare_;       // Null until it is needed.
};

}  // namespace tamis
