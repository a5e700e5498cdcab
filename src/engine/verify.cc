#include "engine/verify.h"

#include <string>
#include <utility>
#include <vector>

#include "base/try.h"
#include "io/file_names.h"
#include "table/table_sections.h"
#include "table/table_verify.h"
#include "table/value_pointers.h"

namespace tamis {
namespace {

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Lookups rely on the facts in the manifest: they must equal the table's own.
void compare_facts(const TableFacts& manifest, const TableFacts& table, std::vector<TableProblem>& problems) {
  if (manifest != table) problems.push_back({0, "the manifest says other things of this table than it does itself"});
}

/// Reads every value to which the table points (rule 41).
Status verify_values(Table& table, const Version& version, const Progress& progress, std::uint64_t& done,
                     std::uint64_t total, VerifyReport& report) {
  const std::unique_ptr<EntryIterator> entries = table.iterate(false);
  std::string value;
  for (entries->seek_to_first(); entries->valid(); entries->step()) {
    const Entry entry = entries->entry().plain();
    if (!is_apart(entry.kind)) continue;
    const ValuePointer pointer = pointer_of(entry);
    const std::shared_ptr<ValueFile> file = version.value_file(pointer.file);
    const Status read =
        file == nullptr ? Status::corruption("there is no such value file") : file->read(pointer, entry.key, value);
    const bool is_bad = read.code() == StatusCode::kCorruption || read.code() == StatusCode::kNotSupported;
    if (!read.ok() && !is_bad) return read;
    if (is_bad) {
      report.problems.push_back(
          {file_name(value_file_path("", pointer.file)), pointer.offset, std::string(read.message())});
    }
    report.bytes += pointer.stored_bytes;
    if (progress && !progress(done += pointer.stored_bytes, total)) return Status::closed("stopped");
  }
  return {};  // What the blocks lack was reported with the table.
}

void verify_value_files(const Version& version, VerifyReport& report) {
  for (const std::shared_ptr<ValueFile>& file : version.value_files()) {
    ++report.files;
    const Status header = file->verify_header();
    if (!header.ok()) report.problems.push_back({file_name(file->path()), 0, std::string(header.message())});
  }
}

Status verify_one_table(const std::shared_ptr<Table>& table, const std::function<bool(std::uint64_t bytes)>& step,
                        VerifyReport& report) {
  const std::string path = table->path();
  ++report.files;
  report.entries += table->facts().entries;
  std::vector<TableProblem> problems;
  const Result<std::shared_ptr<const ReadableFile>> file = table->open_file();
  const Result<TableProperties> properties =
      file.ok() ? read_properties(**file, path) : Result<TableProperties>(file.status());
  if (!properties.ok()) {
    problems.push_back({0, std::string(properties.status().message())});
  } else {
    compare_facts(table->facts(), properties->facts, problems);
    TAMIS_TRY(const std::uint64_t bytes, verify_table(**file, *properties, path, problems, step));
    report.bytes += bytes;
  }
  for (TableProblem& problem : problems) {
    report.problems.push_back({file_name(path), problem.offset, std::move(problem.what)});
  }
  return {};
}

}  // namespace

Status verify_tables(std::span<const std::shared_ptr<const Version>> versions, const Progress& progress,
                     VerifyReport& report) {
  std::uint64_t total = 0;
  for (const std::shared_ptr<const Version>& version : versions) {
    total += version->shape().bytes();
    for (const ValueFileUse& use : version->shape().value_use()) total += use.live_bytes;
  }
  std::uint64_t done = 0;
  const auto step = [&](std::uint64_t bytes) { return !progress || progress(done += bytes, total); };
  for (const std::shared_ptr<const Version>& version : versions) {
    verify_value_files(*version, report);
    for (const std::shared_ptr<Table>& table : version->tables()) {
      TAMIS_TRY_STATUS(verify_one_table(table, step, report));
      if (table->facts().values_apart.empty()) continue;
      TAMIS_TRY_STATUS(verify_values(*table, *version, progress, done, total, report));
    }
  }
  return {};
}

}  // namespace tamis
