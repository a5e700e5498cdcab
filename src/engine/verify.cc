#include "engine/verify.h"

#include <string>
#include <utility>
#include <vector>

#include "base/try.h"
#include "table/table_sections.h"
#include "table/table_verify.h"

namespace tamis {
namespace {

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Lookups rely on the facts in the manifest: they must equal the table's own.
void compare_facts(const TableFacts& manifest, const TableFacts& table, std::vector<TableProblem>& problems) {
  if (manifest != table) problems.push_back({0, "the manifest says other things of this table than it does itself"});
}

}  // namespace

Status verify_tables(std::span<const std::shared_ptr<const Version>> versions, const Progress& progress,
                     VerifyReport& report) {
  std::vector<std::shared_ptr<Table>> tables;
  std::uint64_t total = 0;
  for (const std::shared_ptr<const Version>& version : versions) {
    tables.insert(tables.end(), version->tables().begin(), version->tables().end());
    total += version->shape().bytes();
  }
  std::uint64_t done = 0;
  for (const std::shared_ptr<Table>& table : tables) {
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
      const auto step = [&](std::uint64_t bytes) { return !progress || progress(done += bytes, total); };
      TAMIS_TRY(const std::uint64_t bytes, verify_table(**file, *properties, path, problems, step));
      report.bytes += bytes;
    }
    for (TableProblem& problem : problems) {
      report.problems.push_back({file_name(path), problem.offset, std::move(problem.what)});
    }
  }
  return {};
}

}  // namespace tamis
