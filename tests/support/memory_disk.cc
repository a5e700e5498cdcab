#include "support/memory_disk.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/hash.h"
#include "io/path.h"

namespace tamis {

MemoryDisk::FileId MemoryDisk::create_file(const std::string& path) {
  const FileId id{next_id_++};
  files_.try_emplace(id);
  link(id, path);
  return id;
}

void MemoryDisk::change_names(NameChange change) {
  change.apply(names_);
  pending_.push_back(std::move(change));
}

/// Makes durable what happened in this folder, and what that depends on.
void MemoryDisk::sync_directory(const std::string& path) {
  std::vector<bool> durable(pending_.size());
  for (std::size_t i = pending_.size(); i-- > 0;) {
    durable[i] = pending_[i].happens_in(path);
    for (std::size_t later = i + 1; later < pending_.size(); ++later) {
      if (durable[later] && pending_[later].builds_on(pending_[i])) durable[i] = true;
    }
  }
  std::vector<NameChange> rest;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (durable[i]) {
      pending_[i].apply(durable_names_);
    } else {
      rest.push_back(std::move(pending_[i]));
    }
  }
  pending_ = std::move(rest);
  forget_unreachable_files();
}

void MemoryDisk::let_go(FileId id) {
  --files_.at(id).holders;
  forget_unreachable_files();
}

std::uint64_t MemoryDisk::used_bytes() const {
  std::set<FileId> counted = {FileId::kDirectory};
  std::uint64_t used = 0;
  for (const auto& [path, id] : names_) {
    if (counted.insert(id).second) used += file(id).bytes().size();
  }
  return used;
}

MemoryDisk MemoryDisk::after_crash(Loss loss, std::uint64_t seed) const {
  SplitMix64 random(seed);
  MemoryDisk image;
  image.names_ = names_after_crash(loss, random);
  image.durable_names_ = image.names_;
  image.next_id_ = next_id_;
  for (const auto& [path, id] : image.names_) {
    if (id == FileId::kDirectory || image.files_.contains(id)) continue;
    // If names are lost, bytes may be too: kept, lost or torn, file by file.
    static constexpr std::array kBytesBesideNames = {Loss::kNothing, Loss::kEverything, Loss::kSectors};
    const Loss bytes = loss == Loss::kNames ? kBytesBesideNames[random.below(kBytesBesideNames.size())] : loss;
    image.files_.emplace(id, File{CachedFile(files_.at(id).content.after_crash(bytes, random)), 0});
  }
  return image;
}

MemoryDisk::Names MemoryDisk::names_after_crash(Loss loss, SplitMix64& random) const {
  // Lost bytes come with lost names half of the time.
  const bool keep_all = loss == Loss::kNothing || (loss != Loss::kEverything && loss != Loss::kNames && random.coin());
  Names names = keep_all ? names_ : durable_names_;
  if (!keep_all && loss != Loss::kEverything) keep_some_changes(random, names);
  // The contents of a lost folder are lost; a folder precedes its contents in the map.
  std::erase_if(names, [&](const auto& entry) { return !names.contains(parent_directory(entry.first)); });
  return names;
}

void MemoryDisk::keep_some_changes(SplitMix64& random, Names& names) const {
  std::vector<const NameChange*> lost;
  for (const NameChange& change : pending_) {
    const bool builds_on_lost =
        std::ranges::any_of(lost, [&](const NameChange* earlier) { return change.builds_on(*earlier); });
    if (builds_on_lost || random.coin()) {
      lost.push_back(&change);
    } else {
      change.apply(names);
    }
  }
}

std::uint64_t MemoryDisk::content_hash() const {
  std::uint64_t hash = 0;
  for (const auto& [path, id] : names_) {
    hash = seeded_checksum64(as_bytes(path), hash + 1);
    if (id != FileId::kDirectory) hash = seeded_checksum64(as_bytes(file(id).bytes()), hash);
  }
  return hash;
}

void MemoryDisk::forget_unreachable_files() {
  std::set<FileId> reachable;
  for (const auto& [path, id] : names_) reachable.insert(id);
  for (const auto& [path, id] : durable_names_) reachable.insert(id);
  for (const NameChange& change : pending_) reachable.insert(change.id);
  std::erase_if(files_,
                [&](const auto& entry) { return entry.second.holders == 0 && !reachable.contains(entry.first); });
}

void MemoryDisk::NameChange::apply(Names& names) const {
  switch (kind) {
    case Kind::kAdd: names[path] = id; return;
    case Kind::kRemove: names.erase(path); return;
    case Kind::kRename: break;
  }
  const auto at = names.find(path);
  TAMIS_CHECK(at != names.end());
  names[to] = at->second;
  names.erase(path);
}

bool MemoryDisk::NameChange::happens_in(const std::string& directory) const {
  return parent_directory(path) == directory || (kind == Kind::kRename && parent_directory(to) == directory);
}

bool MemoryDisk::NameChange::builds_on(const NameChange& earlier) const {
  const auto is_touched = [&](const std::string& name) {
    return !name.empty() && (earlier.path == name || earlier.to == name);
  };
  return is_touched(path) || is_touched(to);
}

}  // namespace tamis
