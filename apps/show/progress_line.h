// The text of a progress line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tamis::show {

struct ProgressState {
  std::string_view label = {};
  std::uint64_t done = 0;
  std::uint64_t total = 0;  ///< 0 if unknown; less than `done` if the guess was wrong.
  bool total_is_a_guess = false;
  bool counts_bytes = false;        ///< Whether both are bytes, which are shown.
  std::uint64_t items = 0;          ///< A second figure beside the bar, shown if named.
  std::string_view item_name = {};  ///< "entries".
  double seconds = 0;               ///< Since the work began.
};

/// How many terminal columns a progress line may take: the cursor and a ^C after it must not wrap. 0 columns: unknown,
/// taken as 80.
std::size_t columns_beside_typing(std::size_t columns);

/// "loading [#########.....]  64 %  1,234 entries, 567/s, 0:12 left", in at most this many columns: the bar shrinks
/// first, then the end is cut. Without a total there is no bar and no time left.
std::string progress_line(const ProgressState& state, std::size_t columns);

}  // namespace tamis::show
