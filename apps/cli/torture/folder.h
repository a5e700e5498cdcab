// Torture's folder: a mark, the store, and copies of it. Nothing outside it is touched, and a folder without the mark
// is refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tamis::cli {

std::string store_path(const std::string& folder);
std::string checkpoint_path(const std::string& folder);
/// The store as the writing process left it, before anything opened it.
std::string left_path(const std::string& folder);
/// A copy to damage or repair.
std::string copy_path(const std::string& folder);

/// Refuses a folder without the mark.
void need_torture_folder(const std::string& folder);

/// Creates the folder, or takes over an earlier one and empties it; keeps it locked while this object exists.
class TortureFolder {
 public:
  /// Refuses an existing path without the mark.
  explicit TortureFolder(std::string path);
  ~TortureFolder();
  TortureFolder(const TortureFolder&) = delete;
  TortureFolder& operator=(const TortureFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Removes what torture created, and the folder unless it holds other files.
  void remove();

 private:
  void empty() const;

  std::string path_;
  int mark_ = -1;
};

/// Names of the files and folders in a store's folder, sorted.
std::vector<std::string> names_in(const std::string& store);
/// Replaces `to` with a copy of the store. Tables, which never change, are linked, except the one named `changed`.
void copy_store(const std::string& from, const std::string& to, const std::string& changed = {});
/// Adds `difference`, which is not 0, to one byte.
void flip_byte(const std::string& path, std::uint64_t offset, std::uint8_t difference);

}  // namespace tamis::cli
