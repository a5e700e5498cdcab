#include "engine/journals.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "io/file_names.h"

namespace tamis {
namespace {

/// For a counter that only this thread changes: no locked instruction.
void add(std::atomic<std::uint64_t>& figure, std::uint64_t more) {
  figure.store(figure.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace

void Journals::continue_closed(std::uint64_t number, const JournalHeader& header, const JournalEnd& end) {
  closed_ = Closed{number, header, end};
  current_bytes_ = end.offset;
}

Status Journals::begin(std::uint64_t number, Sequence first) {
  TAMIS_TRY_STATUS(open_if_closed());
  if (writer_ != nullptr) TAMIS_TRY_STATUS(writer_->withdraw_failed_append());
  TAMIS_TRY(std::unique_ptr<JournalWriter> next, create(number, first));
  if (writer_ != nullptr) next->follow(std::move(writer_));
  writer_ = std::move(next);
  forget_flushed();
  window_bytes_.store(0, std::memory_order_relaxed);
  return {};
}

Status Journals::begin_after_gap(std::uint64_t number, Sequence first) {
  TAMIS_TRY_STATUS(open_if_closed());
  if (writer_ != nullptr) TAMIS_TRY_STATUS(writer_->withdraw_failed_append());
  TAMIS_TRY(writer_, create(number, first));
  window_bytes_.store(0, std::memory_order_relaxed);
  return {};
}

Status Journals::begin_after_failure(std::uint64_t number, Sequence first) {
  {
    MutexLock lock(mutex_);
    first_trusted_ = number;
  }
  remove_recycled();  // It may be the failed one, flushed while it was synced with its successor.
  TAMIS_TRY(writer_, create(number, first));
  closed_.reset();
  reopened_ = {};
  return {};
}

Result<std::unique_ptr<JournalWriter>> Journals::create(std::uint64_t number, Sequence first) {
  const JournalSpec spec{.path = journal_path(directory_, number),
                         .header = {.kind = JournalKind::kWrites,
                                    .store_id = store_id_,
                                    .number = number,
                                    .salt = random_.next(),
                                    .first_sequence = number_of(first),
                                    .term = term_,
                                    .features = features_}};
  std::optional<Recycled> recycled = take_recycled();
  // Its file belongs to the new journal now and must not be synced for the old one.
  if (recycled && writer_ != nullptr) writer_->forget_predecessors_before(recycled->was + 1);
  if (recycled && recycled->file.file == nullptr) {
    TAMIS_TRY(recycled->file, JournalWriter::recycle(files_, journal_path(directory_, recycled->was)));
  }
  TAMIS_TRY(std::unique_ptr<JournalWriter> writer,
            JournalWriter::create(files_, spec, recycled ? std::move(recycled->file) : TemporaryFile()));
  writer->allow_room_ahead(most_window_bytes_);
  {
    MutexLock lock(mutex_);
    if (!live_.empty()) live_.back().bytes = current_bytes_;
    live_.push_back({number, first, writer->end_offset()});
    current_bytes_ = writer->end_offset();
  }
  bytes_written_ += writer->end_offset();
  return writer;
}

std::optional<Journals::Recycled> Journals::take_recycled() {
  MutexLock lock(mutex_);
  return std::exchange(recycled_, std::nullopt);
}

void Journals::prepare_next() {
  std::optional<Recycled> recycled = take_recycled();
  if (!recycled) return;
  if (recycled->file.file == nullptr) {
    Result<TemporaryFile> file = JournalWriter::recycle(files_, journal_path(directory_, recycled->was));
    if (!file.ok()) return;  // The next opening removes what it left.
    recycled->file = *std::move(file);
  }
  {
    MutexLock lock(mutex_);
    if (recycled->was >= first_trusted_) {
      recycled_ = std::move(recycled);
      return;
    }
  }
  (void)files_.remove(recycled->file.path).ok();  // A journal has failed meanwhile, perhaps this one (rule 5).
}

std::uint64_t Journals::newest() const {
  MutexLock lock(mutex_);
  return live_.empty() ? 0 : live_.back().number;
}

void Journals::limit_window(std::uint64_t window_bytes) {
  most_window_bytes_ = window_bytes;
  if (writer_ == nullptr) return;
  writer_->limit_window(window_bytes);
  window_bytes_.store(writer_->window_bytes(), std::memory_order_relaxed);
}

Status Journals::open_if_closed() {
  if (!closed_) return {};
  TAMIS_TRY_STATUS(reopened_);
  Result<std::unique_ptr<JournalWriter>> writer =
      JournalWriter::reopen(files_, journal_path(directory_, closed_->number), closed_->header, closed_->end);
  if (!writer.ok()) return reopened_ = writer.status();
  writer_ = *std::move(writer);
  writer_->allow_room_ahead(most_window_bytes_);
  closed_.reset();
  return {};
}

/// Flushed journals need no sync. They are closed too, because an open file that was removed still takes its space.
void Journals::forget_flushed() { writer_->forget_predecessors_before(first_needed_.load(std::memory_order_acquire)); }

Status Journals::append(Bytes payload, std::uint32_t count, std::uint64_t commit_time) {
  TAMIS_TRY_STATUS(open_if_closed());
  const std::uint64_t before = writer_->end_offset();
  TAMIS_TRY_STATUS(writer_->append(payload, count, commit_time));
  const std::uint64_t end = writer_->end_offset();
  current_bytes_.store(end, std::memory_order_relaxed);
  add(bytes_written_, end - before);
  add(records_, 1);
  window_bytes_.store(writer_->window_bytes(), std::memory_order_relaxed);
  return {};
}

Status Journals::sync() {
  if (writer_ == nullptr) return {};  // Closed cleanly; nothing was written since.
  ++syncs_;
  forget_flushed();
  return writer_->sync();
}

Result<KnownJournalEnd> Journals::close(const KnownJournalEnd& known) {
  remove_recycled();
  if (writer_ == nullptr) return known;
  forget_flushed();
  TAMIS_TRY_STATUS(writer_->close());
  const KnownJournalEnd end{writer_->header().number, writer_->header().salt, writer_->durable_offset()};
  writer_.reset();
  return end;
}

void Journals::remove_recycled() {
  const std::optional<Recycled> unneeded = take_recycled();
  if (!unneeded) return;
  const bool has_old_name = unneeded->file.file == nullptr;
  (void)files_.remove(has_old_name ? journal_path(directory_, unneeded->was) : unneeded->file.path).ok();
}

void Journals::release_before(std::uint64_t number) {
  first_needed_.store(number, std::memory_order_release);  // Flushes come one at a time, in order.
  std::vector<std::uint64_t> unneeded;
  {
    MutexLock lock(mutex_);
    while (!live_.empty() && live_.front().number < number) {
      const std::uint64_t journal = live_.front().number;
      // One is enough: a memtable is flushed while the next journal is filled.
      if (journal >= first_trusted_ && !recycled_) {
        recycled_ = Recycled{.was = journal, .file = {}};
      } else {
        unneeded.push_back(journal);
      }
      live_.erase(live_.begin());
    }
  }
  // The next opening removes a file that cannot be removed now.
  for (const std::uint64_t journal : unneeded) (void)files_.remove(journal_path(directory_, journal)).ok();
}

Sequence Journals::first_sequence(std::uint64_t number) const {
  MutexLock lock(mutex_);
  const auto found = std::ranges::find(live_, number, &Live::number);
  TAMIS_CHECK(found != live_.end());
  return found->first;
}

void Journals::keep(std::uint64_t number, Sequence first, std::uint64_t bytes) {
  MutexLock lock(mutex_);
  live_.push_back({number, first, bytes});
}

void Journals::only_show(std::size_t files, std::uint64_t bytes) {
  current_bytes_ = bytes;
  MutexLock lock(mutex_);
  live_.assign(files, {});
}

Journals::Counts Journals::counts() const {
  MutexLock lock(mutex_);
  std::uint64_t bytes = current_bytes_;
  for (std::size_t i = 0; i + 1 < live_.size(); ++i) bytes += live_[i].bytes;
  return {.files = live_.size(),
          .recycled_files = recycled_ ? 1U : 0U,
          .bytes = bytes,
          .bytes_written = bytes_written_,
          .records = records_,
          .syncs = syncs_,
          .window_bytes = window_bytes_};
}

}  // namespace tamis
