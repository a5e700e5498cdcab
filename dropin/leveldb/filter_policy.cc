// leveldb::FilterPolicy. A store does not ask it: its filters are planned from what the tables hold. Programs may.
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#include <tamis/foreign.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "views.h"

namespace leveldb {
namespace {

/// The filters of LevelDB's tables, bit for bit.
class BloomPolicy final : public FilterPolicy {
 public:
  explicit BloomPolicy(int bits_per_key) : bits_per_key_(std::max(bits_per_key, 1)) {}

  const char* Name() const override { return "leveldb.BuiltinBloomFilter2"; }

  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    std::vector<std::string> copies;
    for (const Slice& key : std::span(keys, static_cast<std::size_t>(std::max(n, 0)))) copies.push_back(key.ToString());
    tamis::foreign::BuildOptions options{.format = "leveldb-raw"};
    options.bits_per_key = bits_per_key_;
    // With more than 30 hashes a filter answers maybe, so nothing is lost if one cannot be built.
    dst->append(tamis::foreign::build(copies, options).value_or(std::string("\0\x1F", 2)));
  }

  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    if (filter.size() < 2) return false;  // LevelDB's answer.
    const auto bytes = std::as_bytes(std::span(filter.data(), filter.size()));
    const auto opened = tamis::foreign::ForeignFilter::from_bytes(bytes, {.format = "leveldb-raw"});
    return !opened.ok() || opened->may_contain(tamis::dropin::view_of(key));
  }

 private:
  const int bits_per_key_;
};

}  // namespace

FilterPolicy::~FilterPolicy() = default;

const FilterPolicy* NewBloomFilterPolicy(int bits_per_key) { return new BloomPolicy(bits_per_key); }

}  // namespace leveldb
