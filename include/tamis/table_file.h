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
/// A TableFile that was default-constructed or moved from belongs to no file: it lists nothing, and its calls answer
/// kClosed.
///
/// Invariants: what is shown was checked; bad bytes are kCorruption with file and offset.
///
/// Threads: any number at once; each Entries belongs to one.
class TAMIS_EXPORT TableFile {
 public:
  /// One fact about the table.
  struct Property {
    std::string name;  ///< For people.
    std::string text;  ///< The value. Keys are bytes: print them with care.
  };
  /// One data block.
  struct Block {
    std::uint32_t number = 0;        ///< Counted from 0.
    std::uint64_t offset = 0;        ///< Where it begins in the file.
    std::uint32_t stored_bytes = 0;  ///< Its size in the file, including the trailer.
    std::uint32_t block_bytes = 0;   ///< Its size before compression.
    std::uint32_t entries = 0;       ///< How many entries it holds.
    std::string codec;               ///< How it is compressed.
    std::string first_key;           ///< The key of its first entry.
    std::string separator;           ///< Its key in the index: after the last key of the previous block.
  };
  /// Something wrong with the file.
  struct Problem {
    std::uint64_t offset = 0;  ///< Where.
    std::string what;          ///< What, for people.
  };

  /// Walks over all entries, versions and deletes included, in the order of the file.
  ///
  /// Threads: one at a time. Holds the file open by itself.
  class TAMIS_EXPORT Entries {
   public:
    /// Belongs to no file.
    Entries() noexcept;
    /// Takes over the walk of the other, which then belongs to no file.
    Entries(Entries&&) noexcept;
    /// The same; the walk this had is given up.
    Entries& operator=(Entries&&) noexcept;
    /// Closes the file with the last that holds it open.
    ~Entries();

    /// To the first entry, then to the next. False at the end and after an error, which status() tells.
    [[nodiscard]] bool next();
    /// The entry's key, until the next call of next(); empty before the first and after the last entry.
    [[nodiscard]] std::string_view key() const;
    /// The entry's value, until the next call of next(); empty for a delete.
    [[nodiscard]] std::string_view value() const;
    /// The entry's sequence number; 0 before the first and after the last entry.
    [[nodiscard]] std::uint64_t sequence() const;
    /// Whether the entry deletes its key.
    [[nodiscard]] bool is_delete() const;
    /// ok at the end, otherwise why the walk ended; kClosed if it belongs to no file.
    [[nodiscard]] const Status& status() const;

   private:
    friend class TableFile;
    explicit Entries(std::unique_ptr<TableEntriesState> state);
    std::unique_ptr<TableEntriesState> state_;
  };

  /// Reads header, properties and index. kCorruption where they are damaged, kNotSupported for newer ones.
  static Result<TableFile> open(const std::string& path);

  /// Belongs to no file.
  TableFile() noexcept = default;

  /// Everything the table says about itself, in a fixed order.
  [[nodiscard]] std::vector<Property> properties() const;
  /// How many data blocks it has.
  [[nodiscard]] std::uint32_t blocks() const;
  /// Reads one block; `number` counts from 0 and is below blocks().
  [[nodiscard]] Result<Block> block(std::uint32_t number) const;
  /// A walk over all entries; call next() to get to the first.
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
