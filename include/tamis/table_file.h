// Reads one table file (*.tms) without its store.
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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/expiry.h"
#include "tamis/export.h"
#include "tamis/status.h"

namespace tamis {

class TableFileState;     // src/table/table_file.cc.
class TableEntriesState;  // Same file.

/// One table, opened read-only.
///
/// A TableFile that was default-constructed or moved from belongs to no file: it lists nothing, and its calls return
/// kClosed.
///
/// Invariants: everything returned was checked; damaged bytes are kCorruption with file and offset.
///
/// Threads: any number concurrently; each Entries belongs to one.
class TAMIS_EXPORT TableFile {
 public:
  /// One property of the table.
  struct Property {
    std::string name;  ///< Its name.
    std::string text;  ///< The value. Keys are arbitrary bytes: escape before printing.
  };
  /// One data block.
  struct Block {
    std::uint32_t number = 0;        ///< Its index, from 0.
    std::uint64_t offset = 0;        ///< Its position in the file.
    std::uint32_t stored_bytes = 0;  ///< Its size in the file, including the trailer.
    std::uint32_t block_bytes = 0;   ///< Its size before compression.
    std::uint32_t entries = 0;       ///< The number of entries.
    std::string codec;               ///< Its compression codec.
    std::string first_key;           ///< The key of its first entry.
    std::string separator;           ///< Its key in the index, greater than the last key of the previous block.
  };
  /// A defect in the file.
  struct Problem {
    std::uint64_t offset = 0;  ///< Its position.
    std::string what;          ///< A human-readable description.
  };

  /// Where a value is that is apart from its table (Options::value_bytes_apart).
  struct ApartValue {
    std::uint64_t file = 0;          ///< The number of its value file.
    std::uint64_t offset = 0;        ///< Its position there.
    std::uint64_t stored_bytes = 0;  ///< Its size there.
    std::uint64_t value_bytes = 0;   ///< Its size before compression.
  };

  /// Iterates over all entries, old versions and tombstones included, in file order.
  ///
  /// Threads: one at a time. May outlive its TableFile.
  class TAMIS_EXPORT Entries {
   public:
    /// Belongs to no file.
    Entries() noexcept;
    /// Moves the position; the source then belongs to no file.
    Entries(Entries&&) noexcept;
    /// Like the constructor; drops the position this had.
    Entries& operator=(Entries&&) noexcept;
    /// Closes the file if nothing else keeps it open.
    ~Entries();

    /// Moves to the first or next entry. False at the end and after an error: see status().
    [[nodiscard]] bool next();
    /// The entry's key, valid until the next call to next(); empty before the first and after the last entry.
    [[nodiscard]] std::string_view key() const;
    /// The entry's value, valid until the next call to next(); empty for a tombstone and for a value that is apart.
    [[nodiscard]] std::string_view value() const;
    /// Where the value is; none if it is in the entry.
    [[nodiscard]] std::optional<ApartValue> apart() const;
    /// When the entry's value expires; none if it does not.
    [[nodiscard]] std::optional<ExpiryTime> expires_at() const;
    /// The entry's sequence number; 0 before the first and after the last entry.
    [[nodiscard]] std::uint64_t sequence() const;
    /// Whether the entry is a tombstone.
    [[nodiscard]] bool is_delete() const;
    /// Whether the entry is a merge operand; value() is the operand.
    [[nodiscard]] bool is_merge() const;
    /// ok at the end, otherwise why it stopped; kClosed if it belongs to no file.
    [[nodiscard]] const Status& status() const;

   private:
    friend class TableFile;
    explicit Entries(std::unique_ptr<TableEntriesState> state);
    std::unique_ptr<TableEntriesState> state_;
  };

  /// Reads header, properties and index. Returns kCorruption if they are damaged, kNotSupported for newer versions.
  static Result<TableFile> open(const std::string& path);

  /// Belongs to no file.
  TableFile() noexcept = default;

  /// All properties of the table, in a fixed order.
  [[nodiscard]] std::vector<Property> properties() const;
  /// The number of data blocks.
  [[nodiscard]] std::uint32_t blocks() const;
  /// Reads one block; `number` counts from 0 and must be less than blocks().
  [[nodiscard]] Result<Block> block(std::uint32_t number) const;
  /// Iterates over all entries; call next() to reach the first.
  [[nodiscard]] Entries entries() const;
  /// Reads every byte and lists the defects, none for a sound table. `progress` receives the bytes of each step;
  /// returning false stops with kClosed.
  [[nodiscard]] Result<std::vector<Problem>> verify(
      const std::function<bool(std::uint64_t bytes)>& progress = {}) const;

 private:
  explicit TableFile(std::shared_ptr<const TableFileState> state);
  std::shared_ptr<const TableFileState> state_;
};

}  // namespace tamis
