// The names of Cassandra's files, and the check of a Filter.db against its Index.db, as no other tool outside the JVM
// does it.
#include "filter/formats/cassandra.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/try.h"
#include "filter/formats/format.h"
#include "io/file.h"

namespace tamis::foreign {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool is_version(std::string_view text) {
  return text.size() == 2 && std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

using Verdict = VerifyReport::Verdict;

Result<std::vector<std::string>> missing_keys(Bytes file, const std::string& path, std::string_view format,
                                              const std::vector<std::string>& keys) {
  const OpenOptions options;
  TAMIS_TRY(const Format* const layout, find_format(format));
  TAMIS_TRY(const ProbePtr filter, layout->open({file, path, options}));
  std::vector<std::string> missing;
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(missing),
               [&filter](const std::string& key) { return !filter->may_contain(key); });
  return missing;
}

Status check_format(std::string_view format) {
  if (std::find(kCassandraFormats.begin(), kCassandraFormats.end(), format) != kCassandraFormats.end()) return {};
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

std::optional<CassandraName> parse_cassandra_name(std::string_view path) {
  const std::vector<std::string_view> parts = split(path.substr(path.find_last_of('/') + 1), '-');
  const std::size_t count = parts.size();
  if (count < 4 || !parts[count - 1].ends_with(".db")) return std::nullopt;
  const std::string_view kind = parts[count - 2];
  if (count == 4 && (kind == "big" || kind == "bti") && is_version(parts[0])) {
    return CassandraName{std::string(parts[0]), kind == "bti"};
  }
  if (is_number(kind) && is_version(parts[count - 3])) return CassandraName{std::string(parts[count - 3]), false};
  return std::nullopt;
}

Result<std::string_view> cassandra_format_of_name(std::string_view path) {
  const std::optional<CassandraName> name = parse_cassandra_name(path);
  if (!name) {
    return Status::invalid_argument(
        fmt::format("{}: the name has no Cassandra version such as nb-; give the format", path));
  }
  if (name->version < (name->bti ? "da" : "ia")) {
    return Status::not_supported(
        fmt::format("{}: version {} is older than the supported layouts (1.2 and later)", path, name->version));
  }
  if (name->bti || name->version >= "na") return kCassandraFormats[0];
  return name->version >= "ma" ? kCassandraFormats[1] : kCassandraFormats[2];
}

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
    report.checked_format = *std::find(kCassandraFormats.begin(), kCassandraFormats.end(), format);
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
    TAMIS_TRY(const ForeignFilter like, ForeignFilter::open(options.like, {.format = build_options.format}));
    const ForeignInfo info = like.info();
    if (info.bits == 0) return Status::corruption(fmt::format("{}: the file holds no filter", options.like));
    build_options.hashes = info.hashes;
    build_options.words = info.bits / 64;
  }
  TAMIS_TRY(const std::vector<std::string> keys, cassandra_index_keys(index_path));
  return build(keys, build_options);
}

}  // namespace tamis::foreign
