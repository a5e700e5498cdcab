#include "object/s3_settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "base/try.h"
#include "object/object_store.h"

namespace tamis {
namespace {

constexpr std::string_view kScheme = "s3://";
constexpr std::string_view kDefaultRegion = "us-east-1";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

using Section = std::map<std::string, std::string, std::less<>>;

/// The lines "name = value" below "[title]". Indented lines belong to the setting above them and are left out.
std::optional<Section> section_of(std::string_view text, std::string_view title) {
  std::optional<Section> section;
  bool is_inside = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string_view content = trimmed(line);
    if (content.empty() || content.front() == '#' || content.front() == ';') continue;
    if (content.front() == '[') {
      is_inside = content.back() == ']' && trimmed(content.substr(1, content.size() - 2)) == title;
      if (is_inside && !section) section.emplace();
    } else if (is_inside && line.front() != ' ' && line.front() != '\t') {
      const std::size_t equals = content.find('=');
      if (equals == std::string_view::npos) continue;
      (*section)[std::string(trimmed(content.substr(0, equals)))] = trimmed(content.substr(equals + 1));
    }
  }
  return section;
}

/// What the two files say of one profile.
class Profile {
 public:
  static Result<Profile> read(const EnvironmentVariables& variables, FileSystem& files) {
    Profile profile;
    std::optional<std::string> asked = variables("AWS_PROFILE");
    if (!asked) asked = variables("AWS_DEFAULT_PROFILE");
    profile.name_ = asked.value_or("default");
    const std::string folder = variables("HOME").value_or("") + "/.aws/";
    profile.files_ = {variables("AWS_SHARED_CREDENTIALS_FILE").value_or(folder + "credentials"),
                      variables("AWS_CONFIG_FILE").value_or(folder + "config")};
    const std::string titles[] = {profile.name_, profile.name_ == "default" ? "default" : "profile " + profile.name_};
    bool is_there = false;
    for (std::size_t i = 0; i < profile.files_.size(); ++i) {
      TAMIS_TRY(const std::optional<std::uint64_t> size, files.file_size(profile.files_[i]));
      if (!size) continue;
      TAMIS_TRY(const std::string text, read_whole_file(files, profile.files_[i]));
      std::optional<Section> section = section_of(text, titles[i]);
      is_there |= section.has_value();
      if (section) profile.settings_.merge(*section);  // What is there already stays: credentials go first.
    }
    if (asked && !is_there) {
      return Status::invalid_argument(
          fmt::format("AWS_PROFILE is '{}', and neither {} nor {} has a section of that profile", *asked,
                      profile.files_[0], profile.files_[1]));
    }
    return profile;
  }

  [[nodiscard]] std::string get(std::string_view setting) const {
    const auto found = settings_.find(setting);
    return found == settings_.end() ? std::string() : found->second;
  }

  /// Why there are no keys.
  [[nodiscard]] Status no_keys() const {
    for (const std::string_view way : {"role_arn", "sso_session", "sso_start_url", "credential_process"}) {
      if (get(way).empty()) continue;
      return Status::not_supported(
          fmt::format("the AWS profile '{}' has {}, which tamis does not follow; export keys first: "
                      "eval \"$(aws configure export-credentials --format env)\"",
                      name_, way));
    }
    return Status::invalid_argument(fmt::format(
        "no S3 credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them to {} below [{}]", files_[0],
        name_));
  }

 private:
  std::string name_;
  std::vector<std::string> files_;
  Section settings_;
};

Status read_keys(S3Settings& settings, const EnvironmentVariables& variables, const Profile& profile) {
  settings.access_key = variables("AWS_ACCESS_KEY_ID").value_or("");
  settings.secret_key = variables("AWS_SECRET_ACCESS_KEY").value_or("");
  if (settings.access_key.empty() != settings.secret_key.empty()) {
    return Status::invalid_argument("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must both be set");
  }
  if (!settings.access_key.empty()) {
    settings.session_token = variables("AWS_SESSION_TOKEN").value_or("");
    return {};
  }
  settings.access_key = profile.get("aws_access_key_id");
  settings.secret_key = profile.get("aws_secret_access_key");
  settings.session_token = profile.get("aws_session_token");
  return settings.access_key.empty() || settings.secret_key.empty() ? profile.no_keys() : Status();
}

Status read_address(S3Settings& settings, std::string_view url) {
  if (!url.starts_with(kScheme)) {
    return Status::invalid_argument(fmt::format("'{}' is not the address of a bucket: s3://bucket/prefix", url));
  }
  const std::string_view rest = url.substr(kScheme.size());
  settings.bucket = rest.substr(0, rest.find('/'));
  std::string_view prefix = rest.substr(settings.bucket.size());
  while (prefix.starts_with('/')) prefix.remove_prefix(1);
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  settings.prefix = prefix;
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  };
  if (settings.bucket.size() < 3 || settings.bucket.size() > 255 || !std::ranges::all_of(settings.bucket, is_allowed)) {
    return Status::invalid_argument(fmt::format("'{}': '{}' cannot be the name of a bucket", url, settings.bucket));
  }
  if (!prefix.empty() && !is_object_name(prefix)) {
    return Status::invalid_argument(fmt::format("'{}': '{}' cannot be a prefix of objects' names", url, prefix));
  }
  return {};
}

Status read_endpoint(S3Settings& settings, std::string_view given, const EnvironmentVariables& variables,
                     const Profile& profile) {
  std::string endpoint(given);
  if (endpoint.empty()) endpoint = variables("AWS_ENDPOINT_URL_S3").value_or("");
  if (endpoint.empty()) endpoint = variables("AWS_ENDPOINT_URL").value_or("");
  if (endpoint.empty()) endpoint = profile.get("endpoint_url");
  while (endpoint.ends_with('/')) endpoint.pop_back();
  settings.endpoint = endpoint;
  if (endpoint.empty()) return {};
  const std::size_t scheme = endpoint.starts_with("https://") ? 8 : endpoint.starts_with("http://") ? 7 : 0;
  if (scheme == 0 || endpoint.size() == scheme || endpoint.find_first_of("/?#@ ", scheme) != std::string::npos) {
    return Status::invalid_argument(fmt::format(
        "'{}' is not an endpoint: https://host or https://host:port (http:// sends everything unencrypted)", endpoint));
  }
  return {};
}

}  // namespace

EnvironmentVariables process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
  };
}

Result<S3Settings> read_s3_settings(std::string_view url, std::string_view endpoint,
                                    const EnvironmentVariables& variables, FileSystem& files) {
  S3Settings settings;
  TAMIS_TRY_STATUS(read_address(settings, url));
  TAMIS_TRY(const Profile profile, Profile::read(variables, files));
  TAMIS_TRY_STATUS(read_endpoint(settings, endpoint, variables, profile));
  TAMIS_TRY_STATUS(read_keys(settings, variables, profile));
  settings.region = variables("AWS_REGION").value_or("");
  if (settings.region.empty()) settings.region = variables("AWS_DEFAULT_REGION").value_or("");
  if (settings.region.empty()) settings.region = profile.get("region");
  if (settings.region.empty()) settings.region = kDefaultRegion;
  settings.ca_bundle = variables("AWS_CA_BUNDLE").value_or(profile.get("ca_bundle"));
  return settings;
}

std::string S3Settings::bucket_url() const {
  if (!endpoint.empty()) return fmt::format("{}/{}", endpoint, bucket);
  const std::string host = fmt::format("s3.{}.amazonaws.com{}", region, region.starts_with("cn-") ? ".cn" : "");
  const bool fits_certificate =
      bucket.find_first_of("._") == std::string::npos;  // It is for *.s3.region.amazonaws.com.
  return fits_certificate ? fmt::format("https://{}.{}", bucket, host) : fmt::format("https://{}/{}", host, bucket);
}

std::string uri_escaped(std::string_view text, bool keeps_slashes) {
  std::string escaped;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                          c == '.' || c == '_' || c == '~' || (c == '/' && keeps_slashes);
    escaped += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return escaped;
}

}  // namespace tamis
