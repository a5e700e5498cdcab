// leveldb::Comparator, and the order of bytes: the only one a store of ours has.
#include <leveldb/comparator.h>
#include <leveldb/slice.h>

#include <algorithm>
#include <cstddef>

namespace leveldb {
namespace {

constexpr unsigned char kLastByte = 0xFF;

class ByteOrder final : public Comparator {
 public:
  const char* Name() const override { return "leveldb.BytewiseComparator"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }

  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    const std::size_t shorter = std::min(start->size(), limit.size());
    std::size_t same = 0;
    while (same < shorter && (*start)[same] == limit[same]) ++same;
    if (same == shorter) return;  // One begins with the other.
    const auto byte = static_cast<unsigned char>((*start)[same]);
    const auto end = static_cast<unsigned char>(limit[same]);
    if (byte == kLastByte || byte + 1 >= end) return;
    (*start)[same] = static_cast<char>(byte + 1);
    start->resize(same + 1);
  }

  void FindShortSuccessor(std::string* key) const override {
    for (std::size_t i = 0; i < key->size(); ++i) {
      const auto byte = static_cast<unsigned char>((*key)[i]);
      if (byte == kLastByte) continue;
      (*key)[i] = static_cast<char>(byte + 1);
      key->resize(i + 1);
      return;
    }
  }
};

}  // namespace

Comparator::~Comparator() = default;

// Never destroyed: programs use it while static objects are destroyed.
const Comparator* BytewiseComparator() {
  static const ByteOrder& order = *new ByteOrder();
  return &order;
}

}  // namespace leveldb
