#include "defaults.h"

#include <strings.h>

#include <array>
#include <charconv>
#include <string_view>

namespace tamis_redis {
namespace {

constexpr const char* kErrorRate = "bf-error-rate";
constexpr double kMostRate = 0.25;
constexpr const char* kNoRate = "bf-error-rate must be in the range (0.000000, 1.000000)";

std::array<Setting*, 6> settings() {
  return {&defaults.bf_initial_size, &defaults.bf_expansion_factor, &defaults.cf_initial_size,
          &defaults.cf_bucket_size,  &defaults.cf_max_iterations,   &defaults.cf_expansion_factor};
}

long long get_number(const char* /*name*/, void* setting) { return static_cast<Setting*>(setting)->value; }

int set_number(const char* /*name*/, long long value, void* setting, String** /*error*/) {
  static_cast<Setting*>(setting)->value = value;  // The server has checked the limits.
  return kOk;
}

String* get_error_rate(const char* /*name*/, void* /*data*/) {
  static String* shown = nullptr;  // The server does not free it.
  if (shown != nullptr) redis.FreeString(nullptr, shown);
  const std::string text = shortest_text(defaults.bf_error_rate);
  shown = redis.CreateString(nullptr, text.data(), text.size());
  return shown;
}

int set_error_rate(const char* /*name*/, String* text, void* /*data*/, String** error) {
  double rate = 0;
  if (redis.StringToDouble(text, &rate) != kOk || !accept_error_rate(rate)) {
    *error = redis.CreateString(nullptr, kNoRate, std::string_view(kNoRate).size());
    return kError;
  }
  defaults.bf_error_rate = rate;
  return kOk;
}

bool read_argument(Context* context, const char* name, const String* text) {
  if (strcasecmp(name, kErrorRate) == 0 || strcasecmp(name, "ERROR_RATE") == 0) {
    double rate = 0;
    if (redis.StringToDouble(text, &rate) != kOk || !accept_error_rate(rate)) {
      redis.Log(context, "warning", "%s", kNoRate);
      return false;
    }
    defaults.bf_error_rate = rate;
    return true;
  }
  for (Setting* setting : settings()) {
    const bool has_old_name = setting == &defaults.bf_initial_size && strcasecmp(name, "INITIAL_SIZE") == 0;
    if (strcasecmp(name, setting->name) != 0 && !has_old_name) continue;
    long long value = 0;
    if (redis.StringToLongLong(text, &value) != kOk || !setting->allows(value)) {
      redis.Log(context, "warning", "%s must be in the range [%lld, %lld]", setting->name, setting->least,
                setting->most);
      return false;
    }
    setting->value = value;
    return true;
  }
  redis.Log(context, "warning", "unknown setting '%s'; see docs/COMPATIBILITY.md for those that there are", name);
  return false;
}

}  // namespace

std::string shortest_text(double number) {
  std::array<char, 32> text = {};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

bool accept_error_rate(double& rate) {
  if (!(rate > 0 && rate < 1)) return false;
  if (rate > kMostRate) rate = kMostRate;
  return true;
}

Shape default_bloom_shape() {
  return {.capacity = static_cast<std::uint64_t>(defaults.bf_initial_size.value),
          .error_rate = defaults.bf_error_rate,
          .expansion = static_cast<std::uint32_t>(defaults.bf_expansion_factor.value)};
}

Shape default_cuckoo_shape() {
  return {.capacity = static_cast<std::uint64_t>(defaults.cf_initial_size.value),
          .expansion = static_cast<std::uint32_t>(defaults.cf_expansion_factor.value),
          .bucket_size = static_cast<std::uint16_t>(defaults.cf_bucket_size.value),
          .max_iterations = static_cast<std::uint16_t>(defaults.cf_max_iterations.value)};
}

bool read_arguments(Context* context, String** arguments, int count) {
  if (count % 2 != 0) {
    redis.Log(context, "warning", "each setting needs a value");
    return false;
  }
  for (int i = 0; i < count; i += 2) {
    std::size_t length = 0;
    if (!read_argument(context, redis.StringPtrLen(arguments[i], &length), arguments[i + 1])) return false;
  }
  return true;
}

bool register_settings(Context* context) {
  for (Setting* setting : settings()) {
    if (redis.RegisterNumericConfig(context, setting->name, setting->value, kOrdinaryConfig, setting->least,
                                    setting->most, get_number, set_number, nullptr, setting) != kOk) {
      return false;
    }
  }
  return redis.RegisterStringConfig(context, kErrorRate, shortest_text(defaults.bf_error_rate).c_str(), kOrdinaryConfig,
                                    get_error_rate, set_error_rate, nullptr, nullptr) == kOk &&
         redis.LoadConfigs(context) == kOk;
}

}  // namespace tamis_redis
