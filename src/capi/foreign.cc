// Other systems' filter files in C.
#include "tamis/foreign.h"

#include "capi/status.h"
#include "tamis/c/foreign.h"
#include "text/json.h"

using namespace tamis;
using namespace tamis::capi;

struct tamis_foreign_options {
  foreign::OpenOptions options;
};

struct tamis_foreign_filter {
  foreign::ForeignFilter filter;
};

namespace {

foreign::OpenOptions given(const tamis_foreign_options_t* options) {
  return options != nullptr ? options->options : foreign::OpenOptions();
}

}  // namespace

const char* tamis_foreign_format_name(size_t index, size_t* size) { return give_name(foreign::formats(), index, size); }

tamis_foreign_options_t* tamis_foreign_options_create() { return make<tamis_foreign_options>(); }
void tamis_foreign_options_free(tamis_foreign_options_t* options) { delete options; }
void tamis_foreign_options_set_format(tamis_foreign_options_t* options, const char* format) {
  never_throws([&] { options->options.format = format; });
}
void tamis_foreign_options_set_bits(tamis_foreign_options_t* options, uint64_t bits) { options->options.bits = bits; }
void tamis_foreign_options_set_hashes(tamis_foreign_options_t* options, uint32_t hashes) {
  options->options.hashes = hashes;
}
void tamis_foreign_options_set_column(tamis_foreign_options_t* options, const char* column) {
  never_throws([&] { options->options.column = column; });
}
void tamis_foreign_options_set_row_group(tamis_foreign_options_t* options, uint32_t row_group) {
  options->options.row_group = row_group;
}

tamis_code_t tamis_foreign_filter_open(const char* path, const tamis_foreign_options_t* options,
                                       tamis_foreign_filter_t** filter, char** errptr) {
  return answer(errptr, [&] { return take_handle(foreign::ForeignFilter::open(path, given(options)), filter); });
}
tamis_code_t tamis_foreign_filter_from_bytes(const void* bytes, size_t size, const tamis_foreign_options_t* options,
                                             tamis_foreign_filter_t** filter, char** errptr) {
  return answer(errptr, [&] {
    const std::span span(static_cast<const std::byte*>(bytes), size);
    return take_handle(foreign::ForeignFilter::from_bytes(span, given(options)), filter);
  });
}
void tamis_foreign_filter_free(tamis_foreign_filter_t* filter) { delete filter; }
bool tamis_foreign_filter_may_contain(const tamis_foreign_filter_t* filter, const char* key, size_t key_size) {
  return filter->filter.may_contain(bytes_of(key, key_size));
}
char* tamis_foreign_filter_info_json(const tamis_foreign_filter_t* filter) {
  return never_throws([&] {
    const foreign::ForeignInfo info = filter->filter.info();
    return give_text(JsonObject()
                         .add("format", info.format)
                         .add("detail", info.detail)
                         .add("bytes", info.bytes)
                         .add("bits", info.bits)
                         .add("hashes", info.hashes)
                         .add("fill", info.fill)
                         .add("estimated_keys", info.estimated_keys)
                         .add("estimated_rate", info.estimated_rate)
                         .add("seed", info.seed)
                         .text());
  });
}
tamis_code_t tamis_foreign_filter_convert(const tamis_foreign_filter_t* filter, const char* format, char** bytes,
                                          size_t* size, char** errptr) {
  *bytes = nullptr;
  *size = 0;
  return answer(errptr, [&]() -> Status {
    const Result<std::string> converted = filter->filter.convert_to(format);
    return converted.ok() ? give_bytes(*converted, bytes, size) : converted.status();
  });
}
