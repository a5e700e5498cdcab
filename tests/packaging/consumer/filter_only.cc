// A third-party program that wants a filter and no store.
#include <tamis/filter.h>

#include <cstdio>

int main() {
  tamis::FilterBuilder builder({.target_rate = 0.001});
  for (const char* word : {"apple", "pear"}) builder.add(word);
  const tamis::Result<tamis::Filter> filter = builder.finish();
  if (!filter.ok()) return 1;
  std::printf("apple: %s\n", filter->may_contain("apple") ? "maybe" : "no");
  return 0;
}
