#include "entry/merge_operators.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/try.h"

namespace tamis {
namespace {

constexpr std::size_t kMaxNameBytes = 255;

template <typename Combine>
bool fold_numbers(std::string_view older, std::string_view newer, std::string& result, Combine combine) {
  const std::optional<std::uint64_t> a = unpack_u64(older);
  const std::optional<std::uint64_t> b = unpack_u64(newer);
  if (!a || !b) return false;
  result = pack_u64(combine(*a, *b));
  return true;
}

/// Numbers in two's complement add like those without a sign, which wrap around.
bool add_i64(std::string_view older, std::string_view newer, std::string& result) {
  return fold_numbers(older, newer, result, [](std::uint64_t a, std::uint64_t b) { return a + b; });
}
bool max_u64(std::string_view older, std::string_view newer, std::string& result) {
  return fold_numbers(older, newer, result, [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
}
bool min_u64(std::string_view older, std::string_view newer, std::string& result) {
  return fold_numbers(older, newer, result, [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); });
}
bool append(std::string_view older, std::string_view newer, std::string& result) {
  result.reserve(older.size() + newer.size());
  result.append(older).append(newer);
  return true;
}

/// Never destroyed: a store may be used while static objects are destroyed.
const std::array<MergeOperator, 4>& built_in() {
  static const auto& operators = *new std::array<MergeOperator, 4>{
      {{"add_i64", add_i64}, {"max_u64", max_u64}, {"min_u64", min_u64}, {"append", append}}};
  return operators;
}

}  // namespace

std::span<const std::string_view> merge_operator_names() {
  static constexpr std::array<std::string_view, 4> kNames = {"add_i64", "max_u64", "min_u64", "append"};
  return kNames;
}

const MergeOperator* MergeOperators::find(std::string_view name) const {
  if (name.empty()) return nullptr;
  for (const MergeOperator& known : built_in()) {
    if (known.name == name) return &known;
  }
  MutexLock lock(mutex_);
  for (const MergeOperator& known : known_) {
    if (known.name == name) return &known;
  }
  return &known_.emplace_back(MergeOperator{std::string(name), {}});
}

Status check_operator_name(std::string_view name) {
  if (!name.empty() && name.size() <= kMaxNameBytes && name.find('\n') == std::string_view::npos && name != "none") {
    return {};
  }
  return Status::invalid_argument(
      fmt::format("a merge operator's name has 1 to {} bytes and no line break, and is not 'none'", kMaxNameBytes));
}

Status check_operators(std::span<const MergeOperator> of_program) {
  for (std::size_t i = 0; i < of_program.size(); ++i) {
    const MergeOperator& checked = of_program[i];
    TAMIS_TRY_STATUS(check_operator_name(checked.name));
    const auto is_same = [&](const MergeOperator& other) { return other.name == checked.name; };
    if (std::ranges::any_of(built_in(), is_same)) {
      return Status::invalid_argument(fmt::format("the merge operator '{}' is built in", checked.name));
    }
    if (std::ranges::any_of(of_program.first(i), is_same)) {
      return Status::invalid_argument(fmt::format("the merge operator '{}' is registered twice", checked.name));
    }
    if (!checked.fold) {
      return Status::invalid_argument(fmt::format("the merge operator '{}' has no function", checked.name));
    }
  }
  return {};
}

}  // namespace tamis
