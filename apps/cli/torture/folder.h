// The folder of torture: a mark, the store, and copies of it. Nothing outside it is touched, and nobody else's folder
// is taken for one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tamis::cli {

std::string store_path(const std::string& folder);
std::string checkpoint_path(const std::string& folder);
/// The store as the round found it, before anything opened it.
std::string left_path(const std::string& folder);
/// A copy to damage or repair.
std::string copy_path(const std::string& folder);

/// Refuses a folder without the mark.
void need_torture_folder(const std::string& folder);

/// Makes the folder, or takes an earlier one over and empties it; holds it against others while this lives.
class TortureFolder {
 public:
  /// Refuses whatever is there and has no mark.
  explicit TortureFolder(std::string path);
  ~TortureFolder();
  TortureFolder(const TortureFolder&) = delete;
  TortureFolder& operator=(const TortureFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Removes what torture made, and the folder unless somebody put something into it.
  void remove();

 private:
  void empty() const;

  std::string path_;
  int mark_ = -1;
};

/// Names of the files (and folders) in a store's folder, sorted.
std::vector<std::string> names_in(const std::string& store);
/// Replaces `to` by a copy of the store. Tables, which never change, are linked, except `changed`, a name.
void copy_store(const std::string& from, const std::string& to, const std::string& changed = {});
/// Replaces one byte by another: adds `difference`, which is not 0.
void flip_byte(const std::string& path, std::uint64_t offset, std::uint8_t difference);

}  // namespace tamis::cli
