// The merge operators of a store, by name.
#pragma once

#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "tamis/merge.h"
#include "tamis/status.h"

namespace tamis {

/// Knows the operators that are built in, those of the program, and the names that keyspaces have stored and nobody has
/// registered: these have no function, and nothing of them is folded (rule 32).
///
/// Threads: any.
class MergeOperators {
 public:
  explicit MergeOperators(std::span<const MergeOperator> of_program) : known_(of_program.begin(), of_program.end()) {}

  /// Null for no name. Valid as long as this; the same pointer for the same name.
  [[nodiscard]] const MergeOperator* find(std::string_view name) const EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  mutable std::deque<MergeOperator> known_ GUARDED_BY(mutex_);  // Only grows.
};

/// kInvalidArgument for a name that no operator can have.
Status check_operator_name(std::string_view name);
/// The same for operators of the program that cannot be registered.
Status check_operators(std::span<const MergeOperator> of_program);

}  // namespace tamis
