// A first filter: build it, ask it, save it, open it again.
#include <tamis/filter.h>

#include <cstdio>
#include <string>

namespace {

int fail(const tamis::Status& status) {
  std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "words.tamis";

  // [filter]
  tamis::FilterBuilder builder({.kind = "ribbon", .target_rate = 0.004});
  for (const char* word : {"apple", "pear", "plum"}) builder.add(word);
  const tamis::Result<tamis::Filter> filter = builder.finish();
  if (!filter.ok()) return fail(filter.status());
  if (const tamis::Status saved = filter->save(path); !saved.ok()) return fail(saved);

  const tamis::Result<tamis::Filter> again = tamis::Filter::open(path);
  if (!again.ok()) return fail(again.status());
  for (const char* word : {"apple", "zebra"}) {
    std::printf("%s: %s\n", word, again->may_contain(word) ? "maybe" : "certainly not");
  }
  // [/filter]
  return again->may_contain("plum") ? 0 : 1;
}
