// Nothing throws across the API.
#pragma once

namespace tamis {

/// Runs a user's call. Only std::bad_alloc can be thrown in it, by a small allocation, perhaps in the middle of a
/// change. So the program terminates here, and the next opening recovers as after any crash. Allocations that depend on
/// a user's sizes or on the budget are checked where they are made and return kOutOfSpace (docs/decisions/0016).
template <typename Call>
auto never_throws(Call call) noexcept {
  return call();
}

}  // namespace tamis
