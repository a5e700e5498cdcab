// One store in a fresh process: gets the value of a key and prints its sum; without a key, scans everything twice and
// prints the rate of the second scan, in millions of entries per second, and the sum of all values.
//
//     start-STORE FOLDER ENTRIES [KEY IN HEXADECIMAL]
//
// tamis-bench starts it and knows the sums. It links this store alone, so that its start and its size are the store's.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>

#include "store/contestant.h"

namespace tamis::bench {
namespace {

constexpr std::uint64_t kLittleMemory = std::uint64_t{256} << 20;

std::string bytes_of(std::string_view hex) {
  std::string bytes(hex.size() / 2, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    unsigned char byte = 0;
    std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, byte, 16);
    bytes[i] = static_cast<char>(byte);
  }
  return bytes;
}

void get(Session& session, std::string_view hex) {
  std::string value;
  if (!session.get(bytes_of(hex), value)) stop("the key was not found");
  std::printf("%llu\n", static_cast<unsigned long long>(fold(value)));
}

void scan(Session& session) {
  using Seconds = std::chrono::duration<double>;
  Tally warming;
  session.scan({}, std::numeric_limits<std::uint64_t>::max(), warming);
  Tally tally;
  const auto begin = std::chrono::steady_clock::now();
  session.scan({}, std::numeric_limits<std::uint64_t>::max(), tally);
  const double seconds = Seconds(std::chrono::steady_clock::now() - begin).count();
  std::printf("%.6f %llu\n", static_cast<double>(tally.entries) / seconds / 1e6,
              static_cast<unsigned long long>(tally.sum));
}

}  // namespace
}  // namespace tamis::bench

int main(int count, char** words) {
  using namespace tamis::bench;
  if (count < 3) stop("name a folder and the number of its entries");
  StoreShape shape = {.entries = std::stoull(words[2])};
  if (count > 3) shape.memory_bytes = kLittleMemory;
  const std::unique_ptr<Contestant> store = TAMIS_MAKE_STORE();
  store->open(words[1], shape);
  auto session = store->session();
  if (count > 3) {
    get(*session, words[3]);
  } else {
    scan(*session);
  }
  session.reset();
  store->close();
  return 0;
}
