#include "entry/operand_chain.h"

#include <fmt/core.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/try.h"

namespace tamis {
namespace {

Status no_memory() { return Status::out_of_space("no memory for the merge operands of a key"); }

/// A function of the program that throws has failed.
Status fold_two(const MergeOperator& with, std::string_view older, std::string_view newer, std::string& result) {
  bool is_folded = false;
  try {
    is_folded = with.fold(older, newer, result) && result.size() <= kMaxValueBytes;
  } catch (const std::bad_alloc&) {
    return no_memory();
  } catch (...) {
    is_folded = false;
  }
  if (is_folded) return {};
  return Status::invalid_argument(fmt::format("the merge operator '{}' cannot fold values of {} and {} bytes",
                                              with.name, older.size(), newer.size()));
}

}  // namespace

Status OperandChain::add(std::string_view bytes, Sequence sequence) {
  try {
    links_.push_back({std::string(bytes), sequence});
    return {};
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

void OperandChain::reverse() { std::ranges::reverse(links_); }

/// Neighbours are folded in pairs, then the results, and so on: with `append`, a byte is copied once per round and not
/// once per operand.
Status OperandChain::fold(const MergeOperator* merge_operator, std::string& result) const {
  if (merge_operator == nullptr) return Status::not_supported("the keyspace has merge operands, but no merge operator");
  if (!merge_operator->fold) {
    return Status::not_supported(fmt::format(
        "the merge operator '{}' is not registered; add it to Options::merge_operators", merge_operator->name));
  }
  try {
    std::vector<std::string> folded;
    for (std::size_t i = 0; i < links_.size(); i += 2) {
      std::string& both = folded.emplace_back();
      if (i + 1 == links_.size()) {
        both = links_[i].bytes;
      } else {
        TAMIS_TRY_STATUS(fold_two(*merge_operator, links_[i + 1].bytes, links_[i].bytes, both));
      }
    }
    while (folded.size() > 1) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < folded.size(); i += 2) {
        std::string both;
        if (i + 1 == folded.size()) {
          both = std::move(folded[i]);
        } else {
          TAMIS_TRY_STATUS(fold_two(*merge_operator, folded[i + 1], folded[i], both));
        }
        folded[kept++] = std::move(both);
      }
      folded.resize(kept);
    }
    result = std::move(folded.front());
    return {};
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

}  // namespace tamis
