// A custom filter in front of the store. The meaning of keys may say more about which are absent than their hashes:
// here keys are order numbers, mostly without gaps. One bit per possible number is smaller than any filter over
// hashes, and never wrong.
//
// Kinds that live inside tables belong to the library, because every program that opens the store must be able to read
// them: a new one is a file in src/filter and a line in its registry. In front of a store anything works that keeps
// one promise: never "no" for a present key.
#include <tamis/db.h>
#include <tamis/filter.h>

#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

int fail(const tamis::Status& status) {
  std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return 1;
}

constexpr std::string_view kPrefix = "order/";

std::string key_of(std::uint64_t number) { return std::string(kPrefix) + std::to_string(number); }

/// The order numbers that exist.
class OrderFilter {
 public:
  /// Any key that is not an order's may be present.
  [[nodiscard]] bool may_contain(std::string_view key) const {
    const std::optional<std::uint64_t> number = number_in(key);
    if (!number) return true;
    return *number < bits_.size() && bits_[*number];
  }

  void add(std::string_view key) {
    const std::optional<std::uint64_t> number = number_in(key);
    if (!number) return;
    if (*number >= bits_.size()) bits_.resize(*number + 1);
    bits_[*number] = true;
  }

  [[nodiscard]] std::uint64_t bytes() const { return (bits_.size() + 7) / 8; }

 private:
  /// Only what key_of makes: "order/007" and "order/7" are different keys.
  static std::optional<std::uint64_t> number_in(std::string_view key) {
    if (!key.starts_with(kPrefix)) return std::nullopt;
    const std::string_view digits = key.substr(kPrefix.size());
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || number > kMaxOrders || key_of(number) != key) return std::nullopt;
    return number;
  }

  static constexpr std::uint64_t kMaxOrders = 10'000'000;
  std::vector<bool> bits_;
};

/// Every third order was cancelled.
tamis::Status fill(tamis::DB& db, std::uint64_t orders) {
  tamis::Batch batch;
  for (std::uint64_t i = 0; i < orders; ++i) {
    if (i % 3 != 0) batch.put(key_of(i), "paid");
  }
  return db.write(batch);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::uint64_t kOrders = 30'000;
  tamis::Result<tamis::DB> db = tamis::DB::open(argc > 1 ? argv[1] : "orders");
  if (!db.ok()) return fail(db.status());
  if (const tamis::Status filled = fill(*db, kOrders); !filled.ok()) return fail(filled);

  // Built from the store when the program starts; a writer adds an order to the filter before it writes it.
  OrderFilter own;
  tamis::FilterBuilder builder({.kind = "ribbon", .target_rate = 0.01});
  tamis::Iterator orders = db->scan({.prefix = kPrefix});
  for (; orders.valid(); orders.next()) {
    own.add(orders.key());
    builder.add(orders.key());
  }
  if (!orders.status().ok()) return fail(orders.status());
  const tamis::Result<tamis::Filter> ribbon = builder.finish();
  if (!ribbon.ok()) return fail(ribbon.status());

  std::uint64_t denied = 0;  // Must stay 0: the promise.
  std::uint64_t own_errors = 0;
  std::uint64_t ribbon_errors = 0;
  for (std::uint64_t i = 0; i < kOrders; ++i) {
    const std::string key = key_of(i);
    if (i % 3 != 0) {
      denied += own.may_contain(key) && ribbon->may_contain(key) ? 0 : 1;
    } else {
      own_errors += own.may_contain(key) ? 1 : 0;
      ribbon_errors += ribbon->may_contain(key) ? 1 : 0;
    }
  }
  std::printf("denied though there: %d\n", static_cast<int>(denied));
  std::printf("own filter: %d bytes, %d of 10000 absent orders answered maybe\n", static_cast<int>(own.bytes()),
              static_cast<int>(own_errors));
  std::printf("ribbon: %s, %s\n", ribbon->info().bytes > own.bytes() ? "larger" : "smaller",
              ribbon_errors > 0 ? "and errs now and then" : "and never errs");
  return 0;
}
