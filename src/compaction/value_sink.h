// Where the values of a rewrite go.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compaction/rewriter.h"
#include "entry/entry.h"
#include "table/value_file_builder.h"
#include "tamis/status.h"

namespace tamis {

/// Notes a file that is about to be made. An error removes files noted here, even if only the reply was lost; so a file
/// that exists already is an error.
Status note_begun(FileSystem& files, const std::string& path, std::vector<std::string>& begun);

/// Writes the values that are to be apart to value files, and copies those of collected files to new ones. Key,
/// sequence and kind of an entry stay, except that a put becomes a put whose value is apart (rule 41).
///
/// Threads: one at a time.
class ValueSink {
 public:
  /// Both outlive it. Files are noted in `begun` before they are made.
  ValueSink(const RewriteSpec& spec, std::vector<std::string>& begun) : spec_(spec), begun_(begun) {}

  /// Whether the value is in the entry and is to be apart.
  [[nodiscard]] bool goes_apart(const Entry& entry) const;
  /// The entry as its table has it. It is valid until the next call.
  Result<Entry> place(const Entry& entry);
  /// Finishes the last file, and adds all to the result.
  Status finish(RewriteResult& result);
  void abandon() { builder_.reset(); }

 private:
  Result<Entry> write(const Entry& entry, std::string_view value);
  Result<Entry> copy(const Entry& entry);
  Status begin_file();
  Status finish_file();

  const RewriteSpec& spec_;
  std::vector<std::string>& begun_;
  std::unique_ptr<ValueFileBuilder> builder_;
  std::vector<ValueFileFacts> finished_;
  std::string stored_;  // The value of the entry returned last.
  std::string copied_;  // A value read from a collected file.
};

}  // namespace tamis
