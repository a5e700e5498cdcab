// Checks a Filter.db against its Index.db, as no other tool outside the JVM does.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/try.h"
#include "filter/formats/cassandra.h"
#include "filter/formats/registry.h"
#include "io/file.h"
#include "tamis/foreign.h"

namespace tamis::foreign {
namespace {

using Verdict = VerifyReport::Verdict;

Result<std::vector<std::string>> missing_keys(Bytes file, const std::string& path, std::string_view format,
                                              const std::vector<std::string>& keys) {
  const OpenOptions options;
  TAMIS_TRY(const Format* const layout, find_format(format));
  TAMIS_TRY(const ProbePtr filter, layout->open({file, path, options}));
  std::vector<std::string> missing;
  std::ranges::copy_if(keys, std::back_inserter(missing),
                       [&filter](const std::string& key) { return !filter->may_contain(key); });
  return missing;
}

Status check_format(std::string_view format) {
  if (std::ranges::find(kCassandraFormats, format) != kCassandraFormats.end()) return {};
  return Status::invalid_argument(
      fmt::format("'{}' is no Cassandra format; those are {}", format, fmt::join(kCassandraFormats, ", ")));
}

/// With no layout given or implied, picks the one with the fewest missing keys.
Status check_all_layouts(VerifyReport& report, Bytes file, const std::string& path,
                         const std::vector<std::string>& keys) {
  for (const std::string_view format : kCassandraFormats) {
    TAMIS_TRY(std::vector<std::string> missing, missing_keys(file, path, format, keys));
    if (missing.empty()) report.fitting_formats.push_back(format);
    if (report.checked_format.empty() || missing.size() < report.missing.size()) {
      report.checked_format = format;
      report.missing = std::move(missing);
    }
  }
  report.verdict = report.missing.empty() ? Verdict::kOk : Verdict::kDamaged;
  return {};
}

Status check_one_layout(VerifyReport& report, Bytes file, const std::string& path,
                        const std::vector<std::string>& keys) {
  TAMIS_TRY(report.missing, missing_keys(file, path, report.checked_format, keys));
  if (report.missing.empty()) {
    report.fitting_formats.push_back(report.checked_format);
    return {};
  }
  for (const std::string_view format : kCassandraFormats) {
    if (format == report.checked_format) continue;
    TAMIS_TRY(const std::vector<std::string> missing, missing_keys(file, path, format, keys));
    if (missing.empty()) report.fitting_formats.push_back(format);
  }
  report.verdict = report.fitting_formats.empty() ? Verdict::kDamaged : Verdict::kLayoutMismatch;
  return {};
}

}  // namespace

std::string_view to_string(VerifyReport::Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk: return "ok";
    case Verdict::kLayoutMismatch: return "layout mismatch";
    case Verdict::kDamaged: return "damaged";
  }
  return "unknown";
}

Result<std::vector<std::string>> cassandra_index_keys(const std::string& index_path) {
  TAMIS_TRY(const MappedFile file, MappedFile::open(index_path));
  return read_cassandra_index(file.bytes(), index_path);
}

Result<VerifyReport> cassandra_verify(const std::string& filter_path, const std::string& index_path,
                                      std::string_view format) {
  VerifyReport report;
  const Result<std::string_view> implied = cassandra_format_of_name(filter_path);
  if (implied.ok()) report.implied_format = *implied;
  if (format.empty() && implied.status().code() == StatusCode::kNotSupported) return implied.status();
  if (!format.empty()) {
    TAMIS_TRY_STATUS(check_format(format));
    report.checked_format = *std::ranges::find(kCassandraFormats, format);
  } else {
    report.checked_format = report.implied_format;
  }
  TAMIS_TRY(const std::vector<std::string> keys, cassandra_index_keys(index_path));
  TAMIS_TRY(const MappedFile file, MappedFile::open(filter_path));
  report.keys = keys.size();
  const auto check = report.checked_format.empty() ? check_all_layouts : check_one_layout;
  TAMIS_TRY_STATUS(check(report, file.bytes(), filter_path, keys));
  return report;
}

Result<std::string> cassandra_rebuild(const std::string& index_path, const RebuildOptions& options) {
  BuildOptions build_options = {.format = options.format, .expected_keys = options.expected_keys, .fpr = options.fpr};
  if (options.format.empty()) {
    TAMIS_TRY(build_options.format, cassandra_format_of_name(index_path));
  }
  TAMIS_TRY_STATUS(check_format(build_options.format));
  if (!options.like.empty()) {
    if (options.fpr || options.expected_keys) {
      return Status::invalid_argument("rebuild a filter like another one or for a rate and a number of keys, not both");
    }
    TAMIS_TRY(const MappedFile like, MappedFile::open(options.like));
    TAMIS_TRY(const BloomShape shape, read_cassandra_header(like.bytes(), options.like));
    build_options.hashes = shape.hashes;
    build_options.words = shape.bits / 64;
  }
  TAMIS_TRY(const std::vector<std::string> keys, cassandra_index_keys(index_path));
  return build(keys, build_options);
}

}  // namespace tamis::foreign
