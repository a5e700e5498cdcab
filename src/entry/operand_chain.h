// The merge operands of a key, and what they fold to.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "entry/entry.h"
#include "tamis/merge.h"
#include "tamis/status.h"

namespace tamis {

/// Copies of the operands of one key that follow each other, newest first, and perhaps of the value beneath them.
/// Folding does not change them.
///
/// Threads: one at a time.
class OperandChain {
 public:
  struct Link {
    std::string bytes;
    Sequence sequence = {};
  };

  void clear() { links_.clear(); }
  [[nodiscard]] bool empty() const { return links_.empty(); }
  [[nodiscard]] std::size_t size() const { return links_.size(); }
  /// Newest first, unless they were added in another order.
  [[nodiscard]] std::span<const Link> links() const { return links_; }
  /// An operand, or the value beneath them all. kOutOfSpace if memory is short.
  Status add(std::string_view bytes, Sequence sequence);
  void remove_last() { links_.pop_back(); }
  /// For what was added oldest first.
  void reverse();

  /// The fold of all. kNotSupported without a function of the operator, kInvalidArgument if it cannot fold them,
  /// kOutOfSpace if memory is short.
  Status fold(const MergeOperator* merge_operator, std::string& result) const;

 private:
  std::vector<Link> links_;
};

}  // namespace tamis
