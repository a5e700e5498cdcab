#include "engine/catalog.h"

#include <algorithm>
#include <utility>

#include "base/random_source.h"
#include "base/try.h"
#include "io/file_names.h"

namespace tamis {
namespace {

constexpr std::uint64_t kNumbersPerReservation = 64;  // One manifest edit for this many files.

}  // namespace

Status Catalog::open(bool exists) {
  MutexLock lock(mutex_);
  RandomSource& random = *context_.random;
  if (exists) {
    TAMIS_TRY(manifest_, Manifest::open(context_.files, context_.directory, random));
    if (!context_.options.read_only) {
      TAMIS_TRY_STATUS(check_can_write(manifest_->state().features, current_path(context_.directory)));
    }
  } else {
    TAMIS_TRY(manifest_, Manifest::create(context_.files, context_.directory, draw_identity(random), random));
  }
  next_number_ = std::max<std::uint64_t>(manifest_->state().reserved_numbers, 1);  // 0 names no file.
  return {};
}

void Catalog::follow(ManifestState state, const Current& current) {
  auto manifest = Manifest::follow(context_.files, context_.directory, std::move(state), current, *context_.random);
  MutexLock lock(mutex_);
  manifest_ = std::move(manifest);
  next_number_ = std::max<std::uint64_t>(manifest_->state().reserved_numbers, 1);
}

Status Catalog::commit(const ManifestEdit& edit, const Look& show, const Look& complete) noexcept {
  MutexLock lock(mutex_);
  for (const auto& [id, change] : edit.keyspaces) {
    if (!change.created && !manifest_->state().keyspaces.contains(id)) {
      return Status::closed(context_.directory + ": the keyspace was dropped");
    }
  }
  if (complete) complete(manifest_->state());
  TAMIS_TRY_STATUS(commit_locked(edit));
  show(manifest_->state());
  return {};
}

Result<std::uint64_t> Catalog::new_number() noexcept {
  MutexLock lock(mutex_);
  if (next_number_ >= manifest_->state().reserved_numbers) {
    TAMIS_TRY_STATUS(commit_locked({.reserved_numbers = next_number_ + kNumbersPerReservation}));
  }
  return next_number_++;
}

Result<std::uint64_t> Catalog::begin_term() noexcept {
  MutexLock lock(mutex_);
  TAMIS_TRY_STATUS(commit_locked({.term = manifest_->state().term + 1}));
  return manifest_->state().term;
}

/// The horizon goes along with whatever is written (rule 29).
Status Catalog::commit_locked(ManifestEdit edit) {
  if (context_.expiry.is_used()) {
    const ExpiryHorizon horizon = context_.expiry.horizon();
    if (horizon != manifest_->state().horizon) edit.horizon = horizon;
  }
  Status committed = manifest_->commit(edit);
  if (!committed.ok()) {
    has_failed_ = true;
    health_.stop_writes(committed);
  }
  return committed;
}

void Catalog::inspect(const Look& look) const {
  MutexLock lock(mutex_);
  look(manifest_->state());
}

std::uint64_t Catalog::flushed_sequence() const {
  MutexLock lock(mutex_);
  return manifest_->state().flushed_sequence;
}

std::uint64_t Catalog::flushed_sequence(KeyspaceId keyspace) const {
  MutexLock lock(mutex_);
  const ManifestState& state = manifest_->state();
  const auto found = state.keyspaces.find(keyspace);
  return found == state.keyspaces.end() ? state.flushed_sequence : flushed_sequence_of(state, found->second);
}

std::uint64_t Catalog::newest_flushed_sequence() const {
  MutexLock lock(mutex_);
  return newest_flushed_sequence_of(manifest_->state());
}

Features Catalog::features() const {
  MutexLock lock(mutex_);
  return manifest_->state().features;
}

std::uint64_t Catalog::first_journal() const {
  MutexLock lock(mutex_);
  return manifest_->state().first_journal;
}

std::uint64_t Catalog::next_number() const {
  MutexLock lock(mutex_);
  return next_number_;
}

std::uint64_t Catalog::manifest_number() const {
  MutexLock lock(mutex_);
  return manifest_->number();
}

KnownJournalEnd Catalog::known_journal_end() const {
  MutexLock lock(mutex_);
  return manifest_->known_journal_end();
}

bool Catalog::has_failed() const {
  MutexLock lock(mutex_);
  return has_failed_;
}

Status Catalog::renew_if_failed() {
  MutexLock lock(mutex_);
  if (!has_failed_) return {};
  TAMIS_TRY_STATUS(manifest_->renew());
  has_failed_ = false;
  return {};
}

Status Catalog::close(const KnownJournalEnd& journal) {
  MutexLock lock(mutex_);
  return manifest_->close(journal);
}

}  // namespace tamis
