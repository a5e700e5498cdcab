// A model of a disk beneath a page cache: what a machine would find if the power failed now.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/cached_file.h"

namespace tamis {

/// Files and their names, each with what of it is durable.
///
/// Invariants:
///  1. A change of names (create, link, rename, remove, make directory) is durable once its folder was synced, not
///     before; syncing the file does not help. After a crash each change happened completely or not at all.
///  2. A pending change can survive a crash only if the earlier ones of the same name survive; otherwise any
///     combination can. If a folder's own name is lost, so are its contents.
///  3. A file's bytes and its names become durable independently of each other.
///
/// Threads: one at a time.
class MemoryDisk {
 public:
  enum class FileId : std::uint64_t { kDirectory = 0 };
  using Names = std::map<std::string, FileId>;

  /// Every name, including folders; "." and "/" always exist.
  [[nodiscard]] const Names& names() const { return names_; }
  /// Precondition of the following: the names exist, or not, as the operation requires.
  FileId create_file(const std::string& path);
  void make_directory(const std::string& path) { change_names({path, {}, FileId::kDirectory, NameChange::Kind::kAdd}); }
  void link(FileId file, const std::string& path) { change_names({path, {}, file, NameChange::Kind::kAdd}); }
  void remove(const std::string& path) { change_names({path, {}, {}, NameChange::Kind::kRemove}); }
  void rename(const std::string& from, const std::string& to) {
    change_names({from, to, {}, NameChange::Kind::kRename});
  }
  void sync_directory(const std::string& path);

  [[nodiscard]] CachedFile& file(FileId id) { return files_.at(id).content; }
  [[nodiscard]] const CachedFile& file(FileId id) const { return files_.at(id).content; }
  /// An open file outlives its last name.
  void hold(FileId id) { ++files_.at(id).holders; }
  void let_go(FileId id);
  /// The lengths of all files that have a name.
  [[nodiscard]] std::uint64_t used_bytes() const;

  /// The disk after a crash now, as found on restart; the same seed gives the same losses.
  [[nodiscard]] MemoryDisk after_crash(Loss loss, std::uint64_t seed) const;
  /// Equal for disks with the same names and bytes.
  [[nodiscard]] std::uint64_t content_hash() const;

 private:
  struct NameChange {
    enum class Kind : std::uint8_t { kAdd, kRemove, kRename };
    std::string path;
    std::string to;  // kRename.
    FileId id = FileId::kDirectory;
    Kind kind = Kind::kAdd;

    void apply(Names& names) const;
    [[nodiscard]] bool happens_in(const std::string& directory) const;
    [[nodiscard]] bool builds_on(const NameChange& earlier) const;
  };
  struct File {
    CachedFile content;
    int holders = 0;
  };

  void change_names(NameChange change);
  [[nodiscard]] Names names_after_crash(Loss loss, SplitMix64& random) const;
  void keep_some_changes(SplitMix64& random, Names& names) const;
  void forget_unreachable_files();

  Names names_ = {{".", FileId::kDirectory}, {"/", FileId::kDirectory}};
  Names durable_names_ = names_;
  std::vector<NameChange> pending_;  // Oldest first.
  std::map<FileId, File> files_;
  std::uint64_t next_id_ = 1;
};

}  // namespace tamis
