// The entries of a RocksDB store, read with RocksDB's library.
#pragma once

#include <rocksdb/db.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/store/import.h"

namespace tamis::cli {

/// A store that is opened for reading only; nothing is written to its folder, not even RocksDB's own log. Each column
/// family is a keyspace. A store that another process has open is refused.
///
/// Threads: one at a time.
class RocksDbSource final : public ImportSource {
 public:
  explicit RocksDbSource(const std::string& folder);
  ~RocksDbSource() override;

  [[nodiscard]] std::vector<std::string> keyspaces() const override { return names_; }
  void begin(const std::string& keyspace) override;
  bool next() override;
  [[nodiscard]] std::string_view key() const override { return {entry_->key().data(), entry_->key().size()}; }
  [[nodiscard]] std::string_view value() const override { return {entry_->value().data(), entry_->value().size()}; }
  void finish() override;
  [[nodiscard]] std::uint64_t bytes() const override { return bytes_; }
  [[nodiscard]] std::uint64_t bytes_read() const override;

 private:
  void estimate();

  const std::string folder_;
  std::vector<std::string> names_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;  // As names_.
  std::unique_ptr<rocksdb::Iterator> entry_;
  bool is_before_first_ = true;  // Of the family.
  std::uint64_t bytes_ = 0;
  std::uint64_t estimated_entries_ = 0;
  std::uint64_t entries_read_ = 0;
};

}  // namespace tamis::cli
