#include "capi/status.h"

#include <cstdlib>
#include <cstring>

#include "tamis/version.h"

using namespace tamis;

static_assert(TAMIS_OK == static_cast<int>(StatusCode::kOk));
static_assert(TAMIS_INVALID_ARGUMENT == static_cast<int>(StatusCode::kInvalidArgument));
static_assert(TAMIS_NOT_SUPPORTED == static_cast<int>(StatusCode::kNotSupported));
static_assert(TAMIS_BUSY == static_cast<int>(StatusCode::kBusy));
static_assert(TAMIS_IO_ERROR == static_cast<int>(StatusCode::kIoError));
static_assert(TAMIS_OUT_OF_SPACE == static_cast<int>(StatusCode::kOutOfSpace));
static_assert(TAMIS_CORRUPTION == static_cast<int>(StatusCode::kCorruption));
static_assert(TAMIS_CLOSED == static_cast<int>(StatusCode::kClosed));
static_assert(TAMIS_CONFLICT == static_cast<int>(StatusCode::kConflict));
static_assert(TAMIS_STALE == static_cast<int>(StatusCode::kStale));

namespace tamis::capi {

tamis_code_t give_status(const Status& status, char** errptr) noexcept {
  if (!status.ok() && errptr != nullptr) {
    std::free(*errptr);
    *errptr = give_text(status.to_text());
  }
  return static_cast<tamis_code_t>(status.code());
}

std::vector<std::string_view> views_of(std::size_t count, const char* const* keys, const std::size_t* key_sizes) {
  std::vector<std::string_view> views;
  views.reserve(count);
  for (std::size_t i = 0; i < count; ++i) views.emplace_back(keys[i], key_sizes[i]);
  return views;
}

char* give_text(std::string_view text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

Status give_bytes(std::string_view bytes, char** copy, std::size_t* size) {
  *copy = give_text(bytes);
  if (*copy == nullptr) return Status::out_of_space("no memory for " + std::to_string(bytes.size()) + " bytes");
  if (size != nullptr) *size = bytes.size();
  return {};
}

}  // namespace tamis::capi

using namespace tamis::capi;

const char* tamis_code_name(tamis_code_t code) {
  constexpr int kNone = 255;
  return to_string(static_cast<StatusCode>(code < 0 || code > kNone ? kNone : code)).data();
}
void tamis_free(void* memory) { std::free(memory); }
const char* tamis_version() { return TAMIS_VERSION_STRING; }

void tamis_bytes_append(tamis_bytes_t* bytes, const char* data, size_t size) {
  never_throws([&] { bytes->text.append(bytes_of(data, size)); });
}

tamis_values_t* tamis_values_create() { return make<tamis_values>(); }
void tamis_values_free(tamis_values_t* values) { delete values; }
size_t tamis_values_count(const tamis_values_t* values) { return values->values.size(); }
const char* tamis_values_get(const tamis_values_t* values, size_t index, size_t* size) {
  const bool is_there = index < values->values.size() && values->values[index].has_value();
  return give_view(is_there ? std::string_view(*values->values[index]) : std::string_view(), size);
}

const char* tamis_report_text(const tamis_report_t* report) { return report->text.c_str(); }
const char* tamis_report_json(const tamis_report_t* report) { return report->json.c_str(); }
const char* tamis_report_prometheus(const tamis_report_t* report) {
  return report->prometheus.empty() ? nullptr : report->prometheus.c_str();
}
void tamis_report_free(tamis_report_t* report) { delete report; }
