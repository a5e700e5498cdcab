#include <fmt/core.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "filter_contestants.h"

// The two classes are named but not defined in RocksDB's public headers; these are the virtual functions of 7.x in
// their order, as far as they are called here. Another major version may have another order.
static_assert(ROCKSDB_MAJOR == 7, "check the order of the virtual functions below against this RocksDB");

namespace rocksdb {

class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() = default;
  virtual void AddKey(const Slice& key) = 0;
  virtual size_t EstimateEntriesAdded() = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>* buffer) = 0;
};

class FilterBitsReader {
 public:
  virtual ~FilterBitsReader() = default;
  virtual bool MayMatch(const Slice& key) = 0;
  virtual void MayMatch(int count, Slice** keys, bool* answers) = 0;
};

}  // namespace rocksdb

namespace tamis::bench {
namespace {

constexpr std::size_t kMultiGet = 32;  // RocksDB's own batch size.

rocksdb::Slice slice_of(std::string_view key) { return {key.data(), key.size()}; }

class RocksdbContestant final : public Contestant {
 public:
  RocksdbContestant(const std::string& policy, double bits_per_key)
      : Contestant(fmt::format("RocksDB {} {:g}", policy, bits_per_key)),
        policy_(policy == "ribbon" ? rocksdb::NewRibbonFilterPolicy(bits_per_key)
                                   : rocksdb::NewBloomFilterPolicy(bits_per_key)) {}

  [[nodiscard]] bool takes(bool texts) const override { return texts; }
  void build(const Keys& keys) override {
    const rocksdb::BlockBasedTableOptions table_options;
    const rocksdb::FilterBuildingContext context(table_options);
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(policy_->GetBuilderWithContext(context));
    TAMIS_CHECK(builder != nullptr);
    for (const std::string_view key : std::get<1>(keys)) builder->AddKey(slice_of(key));
    filter_ = builder->Finish(&buffer_);
    reader_.reset(policy_->GetFilterBitsReader(filter_));
    TAMIS_CHECK(reader_ != nullptr);
  }
  [[nodiscard]] std::uint64_t bytes() const override { return filter_.size(); }

  [[nodiscard]] std::uint64_t count_single(const Keys& keys) const override {
    std::uint64_t count = 0;
    for (const std::string_view key : std::get<1>(keys))
      count += static_cast<std::uint64_t>(reader_->MayMatch(slice_of(key)));
    return count;
  }
  [[nodiscard]] std::uint64_t count_many(const Keys& all) const override {
    const std::span<const std::string_view> keys = std::get<1>(all);
    std::array<rocksdb::Slice, kMultiGet> slices;
    std::array<rocksdb::Slice*, kMultiGet> pointers;
    std::array<bool, kMultiGet> answers;
    std::uint64_t count = 0;
    for (std::size_t begin = 0; begin < keys.size(); begin += kMultiGet) {
      const std::size_t batch = std::min(kMultiGet, keys.size() - begin);
      for (std::size_t i = 0; i < batch; ++i) {
        slices[i] = slice_of(keys[begin + i]);
        pointers[i] = &slices[i];
      }
      reader_->MayMatch(static_cast<int>(batch), pointers.data(), answers.data());
      for (std::size_t i = 0; i < batch; ++i) count += static_cast<std::uint64_t>(answers[i]);
    }
    return count;
  }

 private:
  std::unique_ptr<const rocksdb::FilterPolicy> policy_;
  std::unique_ptr<const char[]> buffer_;
  rocksdb::Slice filter_;
  std::unique_ptr<rocksdb::FilterBitsReader> reader_;
};

}  // namespace

std::unique_ptr<Contestant> make_rocksdb(const std::string& policy, double bits_per_key) {
  return std::make_unique<RocksdbContestant>(policy, bits_per_key);
}

std::string rocksdb_version() { return fmt::format("{}.{}.{}", ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH); }

}  // namespace tamis::bench
