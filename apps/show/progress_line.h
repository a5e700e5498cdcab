// The one line that tells how far work has come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tamis::show {

/// How far it is.
struct ProgressState {
  std::string_view label = {};
  std::uint64_t done = 0;
  std::uint64_t total = 0;  ///< 0 when it is not known, and less than `done` when it was guessed wrongly.
  bool total_is_a_guess = false;
  bool counts_bytes = false;        ///< Whether the two are bytes worth showing.
  std::uint64_t items = 0;          ///< A second figure beside the bar, shown when it has a name.
  std::string_view item_name = {};  ///< "entries".
  double seconds = 0;               ///< Since the work began.
};

/// How many columns of a terminal a progress line may take: beside it stand the cursor and a ^C, which would otherwise
/// wrap it. 0 columns: not known, taken for 80.
std::size_t columns_beside_typing(std::size_t columns);

/// "loading [#########.....]  64 %  1,234 entries, 567/s, 0:12 left", in at most so many columns: the bar gives way
/// first, and then the end is cut. Without a total there is no bar and no time left.
std::string progress_line(const ProgressState& state, std::size_t columns);

}  // namespace tamis::show
