// Drops duplicates from a stream of unknown length, in memory that grows by layers: prints each line unless it was seen
// before. About one new line in a hundred thousand is dropped by mistake.
#include <tamis/filter.h>

#include <cstdio>
#include <iostream>
#include <string>

int main() {
  tamis::Result<tamis::MutableFilter> seen =
      tamis::MutableFilter::create({.kind = "scalable", .target_rate = 0.00001, .capacity = 10'000});
  if (!seen.ok()) {
    std::fprintf(stderr, "%s\n", seen.status().to_text().c_str());
    return 1;
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    if (seen->may_contain(line)) continue;
    if (const tamis::Status added = seen->add(line); !added.ok()) return 1;
    std::cout << line << '\n';
  }
  return 0;
}
