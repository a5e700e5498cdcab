#include "support/cached_file.h"

#include <algorithm>
#include <cstring>

namespace tamis {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kSectorBytes = 512;

}  // namespace

std::string_view to_string(Loss loss) {
  switch (loss) {
    case Loss::kEverything: return "everything unsynced";
    case Loss::kNothing: return "nothing";
    case Loss::kPages: return "pages";
    case Loss::kSectors: return "sectors";
    case Loss::kNames: return "names";
    case Loss::kZeroTail: return "a tail, zeroed";
    case Loss::kGarbageTail: return "a tail, garbled";
  }
  return "unknown";
}

void CachedFile::write(std::uint64_t offset, std::span<const Bytes> pieces) {
  Change change{offset, {}, 0};
  for (const Bytes piece : pieces) change.bytes += as_text(piece);
  if (change.bytes.empty()) return;
  const std::uint64_t end = offset + change.bytes.size();
  if (end > cached_.size()) cached_.resize(end, '\0');
  cached_.replace(offset, change.bytes.size(), change.bytes);
  change.size = cached_.size();
  pending_.push_back(std::move(change));
}

void CachedFile::write_durably(std::uint64_t offset, std::span<const Bytes> pieces) {
  write(offset, pieces);
  if (pending_.empty() || pending_.back().offset != offset || pending_.back().bytes.empty()) return;
  const Change change = pending_.back();
  pending_.pop_back();
  const std::uint64_t end = offset + change.bytes.size();
  const bool overlaps = std::ranges::any_of(pending_, [&](const Change& earlier) {
    return earlier.offset < end && offset < earlier.offset + earlier.bytes.size();
  });
  if (overlaps) {  // The whole page is written, with its earlier pending changes.
    pending_.push_back(change);
    return sync();
  }
  if (durable_.size() < end) durable_.resize(end, '\0');
  durable_.replace(offset, change.bytes.size(), change.bytes);
  for (Change& earlier : pending_) earlier.size = std::max(earlier.size, end);
}

void CachedFile::resize(std::uint64_t size) {
  if (size == cached_.size()) return;
  cached_.resize(size, '\0');
  pending_.push_back({size, {}, size});
}

void CachedFile::sync() {
  if (pending_.empty()) return;
  durable_.resize(extent(), '\0');
  for (const Change& change : pending_) apply(change, 0, durable_.size(), durable_);
  durable_.resize(pending_.back().size);
  pending_.clear();
}

void CachedFile::fail_sync(SplitMix64& random) {
  if (pending_.empty()) return;
  const std::uint64_t size = random.coin() ? pending_.back().size : durable_.size();
  durable_.resize(extent(), '\0');
  for (const auto& [page, changes] : changes_by_granule(kPageBytes)) {
    if (random.coin()) continue;
    for (const Change* change : changes) apply(*change, page * kPageBytes, (page + 1) * kPageBytes, durable_);
  }
  durable_.resize(size);
  pending_.clear();
}

std::string CachedFile::after_crash(Loss loss, SplitMix64& random) const {
  if (pending_.empty() || loss == Loss::kEverything) return durable_;
  std::string image = durable_;
  image.resize(extent(), '\0');
  std::uint64_t size = pending_.back().size;
  if (loss == Loss::kPages || loss == Loss::kSectors) {
    const bool tear = loss == Loss::kSectors;
    keep_some(tear ? kSectorBytes : kPageBytes, tear, random, image);
    size = some_size(random);
  } else {
    for (const Change& change : pending_) apply(change, 0, image.size(), image);
    if (loss == Loss::kZeroTail || loss == Loss::kGarbageTail) spoil_tail(loss == Loss::kGarbageTail, random, image);
  }
  image.resize(size);
  return image;
}

/// Applies the change to the bytes [begin, end) of the image, which is long enough for every change.
void CachedFile::apply(const Change& change, std::uint64_t begin, std::uint64_t end, std::string& image) {
  end = std::min<std::uint64_t>(end, image.size());
  const std::uint64_t cut = std::max(begin, change.size);
  if (cut < end) std::memset(image.data() + cut, 0, end - cut);
  const std::uint64_t from = std::max(begin, change.offset);
  const std::uint64_t to = std::min<std::uint64_t>(end, change.offset + change.bytes.size());
  if (from < to) image.replace(from, to - from, change.bytes, from - change.offset, to - from);
}

std::uint64_t CachedFile::extent() const {
  std::uint64_t extent = durable_.size();
  for (const Change& change : pending_) extent = std::max({extent, change.size, change.offset + change.bytes.size()});
  return extent;
}

CachedFile::ChangesByGranule CachedFile::changes_by_granule(std::uint64_t granule_bytes) const {
  ChangesByGranule granules;
  const std::uint64_t everything = extent();
  for (const Change& change : pending_) {
    // A change of size affects everything it cuts off.
    const std::uint64_t end = change.bytes.empty() ? everything : change.offset + change.bytes.size();
    for (std::uint64_t at = change.offset / granule_bytes; at * granule_bytes < end; ++at) {
      granules[at].push_back(&change);
    }
  }
  return granules;
}

/// The length is metadata: it may be older or newer than the bytes. Half of the time it is the newest.
std::uint64_t CachedFile::some_size(SplitMix64& random) const {
  if (random.coin()) return pending_.back().size;
  const std::uint64_t state = random.below(pending_.size() + 1);
  return state == 0 ? durable_.size() : pending_[state - 1].size;
}

void CachedFile::keep_some(std::uint64_t granule_bytes, bool tear, SplitMix64& random, std::string& image) const {
  for (const auto& [granule, changes] : changes_by_granule(granule_bytes)) {
    const std::uint64_t begin = granule * granule_bytes;
    const std::uint64_t kept = random.below(changes.size() + 1);
    for (std::uint64_t i = 0; i < kept; ++i) apply(*changes[i], begin, begin + granule_bytes, image);
    if (tear && kept < changes.size() && random.below(4) == 0) {
      apply(*changes[kept], begin, begin + random.below(granule_bytes), image);
    }
  }
}

void CachedFile::spoil_tail(bool garbage, SplitMix64& random, std::string& image) const {
  std::uint64_t first = image.size();
  for (const Change& change : pending_) first = std::min(first, change.offset);
  const std::uint64_t cut = first + random.below(image.size() - first + 1);
  for (const Change& change : pending_) {
    const std::uint64_t end = change.offset + change.bytes.size();
    for (std::uint64_t at = std::max(cut, change.offset); at < end; ++at) {
      image[at] = garbage ? static_cast<char>(random.next()) : '\0';
    }
  }
}

}  // namespace tamis
