// The facts of tables that do not exist.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "table/table_facts.h"

namespace tamis::test {

inline std::shared_ptr<TableFacts> facts_of(std::uint64_t number, std::string smallest, std::string largest) {
  auto facts = std::make_shared<TableFacts>();
  facts->number = number;
  facts->smallest_key = std::move(smallest);
  facts->largest_key = std::move(largest);
  return facts;
}

}  // namespace tamis::test
