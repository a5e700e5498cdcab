#include "crash/journal_workload.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/try.h"
#include "journal/journal_stream.h"

namespace tamis::test {
namespace {

constexpr std::string_view kFolder = "/store";
constexpr std::string_view kSuffix = ".journal";

std::string journal_path(std::uint64_t number) { return fmt::format("{}/{:06}{}", kFolder, number, kSuffix); }

/// The journals on a disk, by name, starting at a number.
std::vector<std::string> journals_from(const MemoryDisk& disk, std::uint64_t oldest) {
  std::vector<std::string> paths;
  for (const auto& [path, id] : disk.names()) {
    if (path.ends_with(kSuffix) && path >= journal_path(oldest)) paths.push_back(path);
  }
  return paths;  // Sorted: names have a fixed width.
}

}  // namespace

void JournalLedger::flushed(std::uint64_t next_sequence, std::uint64_t oldest_journal) {
  flushed_ = next_sequence;
  synced_ = std::max(synced_, next_sequence);
  oldest_journal_ = oldest_journal;
}

std::string JournalLedger::check(const MemoryDisk& disk) const {
  CrashFileSystem files(disk);
  for (const std::string& path : journals_from(disk, 0)) {
    const Result<JournalReader> reader = JournalReader::open(files, path);
    if (!reader.ok()) return reader.status().to_text();
    const std::uint64_t number = reader->header().number;
    if (journal_path(number) != path) return fmt::format("{} is journal {}", path, number);
  }
  return check_stream(files, journals_from(disk, oldest_journal_));
}

std::string JournalLedger::check_stream(FileSystem& files, const std::vector<std::string>& paths) const {
  Result<JournalStream> stream = JournalStream::open(files, {.paths = paths, .first_sequence = flushed_});
  if (!stream.ok()) return stream.status().to_text();
  std::uint64_t due = flushed_;
  bool is_last = false;
  for (;;) {
    const Result<std::optional<JournalRecord>> next = stream->next();
    if (!next.ok()) return next.status().to_text();
    if (!next->has_value()) break;
    const JournalRecord& record = **next;
    if (is_last) return fmt::format("record {} follows one whose append had failed", record.first_sequence);
    if (record.first_sequence != due) return fmt::format("record {} instead of {}", record.first_sequence, due);
    const WrittenRecord found{record.count, std::string(as_text(record.payload))};
    const auto acknowledged = acknowledged_.find(due);
    const bool is_acknowledged = acknowledged != acknowledged_.end() && acknowledged->second == found;
    const auto tried = tried_.find(due);
    if (tried == tried_.end() || !std::ranges::count(tried->second, found))
      return fmt::format("record {} was never written", due);
    if (!is_acknowledged && due < synced_) return fmt::format("record {} is not the synced one", due);
    is_last = !is_acknowledged;
    due += record.count;
  }
  if (due < synced_) return fmt::format("synced up to {}, found up to {}", synced_, due);
  if (stream->end().journal.is_closed && stream->end().is_last_journal && !may_be_closed_) return "closed, it says";
  if (stream->end().next_sequence != due) return "the stream's end is not where its records end";
  return {};
}

void JournalWorkload::run() {
  (void)files_.make_directory(std::string(kFolder)).ok();
  if (!files_.sync_directory("/").ok() || !start_afresh()) return;
  for (int journal = 0; journal < shape_.journals; ++journal) {
    for (int record = 0; record < shape_.records; ++record) {
      if (!append()) return;
      if (random_.below(shape_.one_sync_in) == 0 && !sync()) return;
    }
    if (random_.coin()) flush(writer_->header().number);
    if (journal + 1 < shape_.journals && !switch_journal()) return;
  }
  if (!close_and_reopen() || !append() || !append()) return;
  ledger_.closes();
  if (writer_->close().ok()) ledger_.synced(writer_->next_sequence());
  writer_.reset();
}

bool JournalWorkload::append() {
  static constexpr std::array<std::size_t, 11> kSizes = {0, 1, 17, 100, 116, 448, 480, 512, 700, 3000, 9000};
  WrittenRecord record{static_cast<std::uint32_t>(1 + random_.below(3)),
                       std::string(kSizes[random_.below(kSizes.size())], 0)};
  for (int attempt = 0; attempt < 3; ++attempt) {
    // A second attempt has different bytes and the same length: the worst case for telling the two apart.
    for (char& byte : record.payload) byte = static_cast<char>(random_.next());
    const std::uint64_t sequence = writer_->next_sequence();
    ledger_.tries(sequence, record);
    if (writer_->append(as_bytes(record.payload), record.count).ok()) {
      ledger_.appended(sequence, record);
      return true;
    }
    // The append wrote its record if the sequence advanced; then a sync failed, and this journal is finished.
    if (writer_->next_sequence() != sequence && !start_afresh()) return false;
    // The next attempt may be the first record of another journal.
    if (writer_->next_sequence() == sequence && random_.below(2) == 0 && !switch_journal()) return false;
  }
  return start_afresh();
}

bool JournalWorkload::sync() {
  if (!writer_->sync().ok()) return start_afresh();
  ledger_.synced(writer_->next_sequence());
  return true;
}

bool JournalWorkload::switch_journal() {
  if (!writer_->withdraw_failed_append().ok()) return start_afresh();
  Result<std::unique_ptr<JournalWriter>> next = create(writer_->next_sequence());
  if (!next.ok()) return true;  // The old one continues.
  if (shape_.mistake != Mistake::kPredecessorNotSynced) (*next)->follow(std::move(writer_));
  writer_ = *std::move(next);
  return true;
}

/// A journal that needs none of its predecessors: their contents go to tables first.
bool JournalWorkload::start_afresh() {
  const std::uint64_t first_sequence = writer_ == nullptr ? 1 : writer_->next_sequence();
  for (int attempt = 0; attempt < 2; ++attempt) {
    Result<std::unique_ptr<JournalWriter>> fresh = create(first_sequence);
    if (!fresh.ok()) continue;
    writer_ = *std::move(fresh);
    flush(writer_->header().number);
    return true;
  }
  return false;
}

/// All records of earlier journals go to tables; the journals become free.
void JournalWorkload::flush(std::uint64_t oldest_journal) {
  ledger_.flushed(writer_->header().first_sequence, oldest_journal);
  writer_->forget_predecessors_before(oldest_journal);
  while (!live_.empty() && *live_.begin() < oldest_journal) {
    free_.push_back(journal_path(*live_.begin()));
    live_.erase(live_.begin());
  }
}

bool JournalWorkload::close_and_reopen() {
  const std::string path = journal_path(writer_->header().number);
  ledger_.closes();
  if (!writer_->close().ok()) return false;
  ledger_.synced(writer_->next_sequence());
  Result<JournalReader> reader = JournalReader::open(files_, path, writer_->end_offset());
  if (!reader.ok() || !reader->skip_to_end().ok() || !reader->end().is_closed) return false;
  Result<std::unique_ptr<JournalWriter>> again = JournalWriter::reopen(files_, path, reader->header(), reader->end());
  if (!again.ok()) return false;
  ledger_.reopened();
  writer_ = *std::move(again);
  writer_->allow_room_ahead(shape_.window_bytes);
  return true;
}

Result<std::unique_ptr<JournalWriter>> JournalWorkload::create(std::uint64_t first_sequence) {
  const std::uint64_t number = next_number_++;
  JournalSpec spec{journal_path(number), {}, random_.coin() ? 4096 + random_.below(4) * 4096 : 0};
  spec.header.number = number;
  spec.header.salt = shape_.mistake == Mistake::kSaltReused ? 1 : remix(number);
  spec.header.first_sequence = first_sequence;
  TemporaryFile recycled;
  if (!free_.empty()) {
    const std::string path = free_.back();
    free_.pop_back();
    TAMIS_TRY(recycled, JournalWriter::recycle(files_, path));
  }
  TAMIS_TRY(std::unique_ptr<JournalWriter> made, JournalWriter::create(files_, spec, std::move(recycled)));
  live_.insert(number);
  made->allow_room_ahead(shape_.window_bytes);
  return made;
}

void CrashEnumerator::crash_in_every_way(const MemoryDisk& disk, int seeds, std::string_view when) {
  for (const Loss loss : kAllLosses) {
    const bool is_random = loss != Loss::kEverything && loss != Loss::kNothing;
    for (int i = 0; i < (is_random ? seeds : 1); ++i) crash(disk, loss, next_seed_++, when);
  }
}

void CrashEnumerator::crash(const MemoryDisk& disk, Loss loss, std::uint64_t seed, std::string_view when) {
  const MemoryDisk image = disk.after_crash(loss, seed);
  const std::uint64_t hash = image.content_hash();
  images_.insert(hash);
  if (!checked_.insert(remix(hash) + ledger_.state_hash()).second) return;
  const std::string violation = ledger_.check(image);
  if (!violation.empty()) {
    violations_.push_back(fmt::format("after \"{}\", lost {} (seed {}): {}", when, to_string(loss), seed, violation));
  }
}

CrashEnumerator enumerate_crashes(JournalLedger& ledger, std::uint64_t seed, int ways,
                                  const JournalWorkload::Shape& shape, std::optional<Fault> fault) {
  CrashEnumerator crashes(ledger);
  CrashFileSystem memory;
  memory.after_each_call([&](const MemoryDisk& disk, std::string_view call) {
    crashes.crash_in_every_way(disk, ways, fmt::format("workload {}: {}", seed, call));
  });
  FaultyFileSystem healthy(memory);
  FaultyFileSystem lying(memory, fault.value_or(Fault{}));
  JournalWorkload(fault ? lying : healthy, ledger, seed, shape).run();
  return crashes;
}

namespace {

/// One run; false if it ended before the call that was to fail.
bool fail_call(const Fault& fault, std::uint64_t seed, const JournalWorkload::Shape& shape, FaultCounts& counts) {
  constexpr std::uint64_t kCallsWatched = 12;  // Long enough for a retry, a new journal and its first sync.
  CrashFileSystem memory;
  FaultyFileSystem faulty(memory, fault);
  JournalLedger ledger;
  CrashEnumerator crashes(ledger);
  memory.after_each_call([&](const MemoryDisk& disk, std::string_view call) {
    if (faulty.calls() < fault.at_call || faulty.calls() >= fault.at_call + kCallsWatched) return;
    for (const Loss loss : kAllLosses) crashes.crash(disk, loss, fault.at_call * 31 + faulty.calls(), call);
  });
  JournalWorkload(faulty, ledger, seed, shape).run();
  memory.after_each_call(nullptr);
  crashes.crash_in_every_way(memory.disk(), 1, "end");
  ++counts.runs;
  counts.fired += faulty.fired() > 0 ? 1 : 0;
  counts.images.insert(crashes.image_hashes().begin(), crashes.image_hashes().end());
  for (const std::string& violation : crashes.violations()) {
    counts.violations.push_back(fmt::format("workload {}, {}: {}", seed, to_text(fault), violation));
  }
  return faulty.calls() >= fault.at_call;
}

}  // namespace

void fail_every_call_in_every_way(std::uint64_t seed, const JournalWorkload::Shape& shape, FaultCounts& counts,
                                  std::uint64_t stride) {
  for (const FaultKind kind : {FaultKind::kIoError, FaultKind::kIoErrorAfterwards, FaultKind::kNoSpace,
                               FaultKind::kNoSpaceAfterwards, FaultKind::kShortWrite, FaultKind::kTooManyFiles}) {
    for (const bool sticky : {false, true}) {
      // Each kind starts at a different call, so that they hit different calls.
      std::uint64_t call = 1 + static_cast<std::uint64_t>(kind) % stride;
      while (fail_call({kind, call, sticky}, seed, shape, counts)) call += stride;
    }
  }
}

}  // namespace tamis::test
