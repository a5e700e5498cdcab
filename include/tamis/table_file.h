// A look into one table file (*.tms), without the store it belongs to.
//
//     tamis::Result<tamis::TableFile> file = tamis::TableFile::open("store/000013.tms");
//     for (const tamis::TableFile::Property& p : file->properties()) print(p.name, p.text);
//     tamis::TableFile::Entries entries = file->entries();
//     while (entries.next()) print(entries.key(), entries.value());
//     // entries.status() tells why it ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/export.h"
#include "tamis/status.h"

namespace tamis {

class TableFileState;     // src/table/table_file.cc.
class TableEntriesState;  // As well.

/// One table, opened for reading and never changed.
///
/// Invariants: what is shown was checked; bad bytes are kCorruption with file and offset.
///
/// Threads: any number at once; each Entries belongs to one.
class TAMIS_EXPORT TableFile {
 public:
  struct Property {
    std::string name;
    std::string text;  ///< Keys are bytes: print them with care.
  };
  struct Block {
    std::uint32_t number = 0;
    std::uint64_t offset = 0;
    std::uint32_t stored_bytes = 0;  ///< Trailer included.
    std::uint32_t block_bytes = 0;   ///< Before compression.
    std::uint32_t entries = 0;
    std::string codec;
    std::string first_key;
    std::string separator;  ///< In the index: at or before the first key, after the last key of the block before.
  };
  struct Problem {
    std::uint64_t offset = 0;
    std::string what;
  };

  /// Walks over all entries, versions and deletes included, in the order of the file.
  ///
  /// Threads: one at a time. Holds the file open by itself.
  class TAMIS_EXPORT Entries {
   public:
    Entries(Entries&&) noexcept;
    Entries& operator=(Entries&&) noexcept;
    ~Entries();

    /// To the first entry, then to the next. False at the end and after an error, which status() tells.
    [[nodiscard]] bool next();
    /// These live until the next call of next().
    [[nodiscard]] std::string_view key() const;
    [[nodiscard]] std::string_view value() const;
    [[nodiscard]] std::uint64_t sequence() const;
    [[nodiscard]] bool is_delete() const;
    [[nodiscard]] const Status& status() const;

   private:
    friend class TableFile;
    explicit Entries(std::unique_ptr<TableEntriesState> state);
    std::unique_ptr<TableEntriesState> state_;
  };

  /// Reads header, properties and index. kCorruption where they are damaged, kNotSupported for newer ones.
  static Result<TableFile> open(const std::string& path);

  /// Everything the table says of itself, in a fixed order.
  [[nodiscard]] std::vector<Property> properties() const;
  [[nodiscard]] std::uint32_t blocks() const;
  /// Reads this one; `number` counts from 0 and is below blocks().
  [[nodiscard]] Result<Block> block(std::uint32_t number) const;
  [[nodiscard]] Entries entries() const;
  /// Reads every byte and lists what is wrong, nothing for a sound table. `progress` is told the bytes of each step;
  /// false stops with kClosed.
  [[nodiscard]] Result<std::vector<Problem>> verify(
      const std::function<bool(std::uint64_t bytes)>& progress = {}) const;

 private:
  explicit TableFile(std::shared_ptr<const TableFileState> state);
  std::shared_ptr<const TableFileState> state_;
};

}  // namespace tamis
