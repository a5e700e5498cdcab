// Options of single calls in C.
#include "capi/options.h"
#include "capi/status.h"

using namespace tamis;
using namespace tamis::capi;

namespace {

const Snapshot* inside(const tamis_snapshot_t* snapshot) { return snapshot != nullptr ? &snapshot->snapshot : nullptr; }

}  // namespace

namespace tamis::capi {

ScanOptions given(const tamis_scan_options_t* options) {
  if (options == nullptr) return {};
  ScanOptions scan = options->options;
  scan.prefix = options->prefix;
  if (options->from) scan.from = *options->from;
  if (options->to) scan.to = *options->to;
  return scan;
}

}  // namespace tamis::capi

tamis_write_options_t* tamis_write_options_create() { return make<tamis_write_options>(); }
void tamis_write_options_free(tamis_write_options_t* options) { delete options; }
void tamis_write_options_set_sync(tamis_write_options_t* options, bool sync) { options->options.sync = sync; }
void tamis_write_options_set_expires_in_ms(tamis_write_options_t* options, int64_t milliseconds) {
  options->options.expires_in = std::chrono::milliseconds(milliseconds);
}

tamis_read_options_t* tamis_read_options_create() { return make<tamis_read_options>(); }
void tamis_read_options_free(tamis_read_options_t* options) { delete options; }
void tamis_read_options_set_snapshot(tamis_read_options_t* options, const tamis_snapshot_t* snapshot) {
  options->options.snapshot = inside(snapshot);
}
void tamis_read_options_set_fills_cache(tamis_read_options_t* options, bool fills_cache) {
  options->options.fills_cache = fills_cache;
}

tamis_scan_options_t* tamis_scan_options_create() { return make<tamis_scan_options>(); }
void tamis_scan_options_free(tamis_scan_options_t* options) { delete options; }
void tamis_scan_options_set_prefix(tamis_scan_options_t* options, const char* prefix, size_t prefix_size) {
  never_throws([&] { options->prefix = bytes_of(prefix, prefix_size); });
}
void tamis_scan_options_set_from(tamis_scan_options_t* options, const char* from, size_t from_size) {
  never_throws([&] { options->from = bytes_of(from, from_size); });
}
void tamis_scan_options_set_to(tamis_scan_options_t* options, const char* to, size_t to_size) {
  never_throws([&] { options->to = bytes_of(to, to_size); });
}
void tamis_scan_options_set_reverse(tamis_scan_options_t* options, bool reverse) { options->options.reverse = reverse; }
void tamis_scan_options_set_snapshot(tamis_scan_options_t* options, const tamis_snapshot_t* snapshot) {
  options->options.snapshot = inside(snapshot);
}
void tamis_scan_options_set_fills_cache(tamis_scan_options_t* options, bool fills_cache) {
  options->options.fills_cache = fills_cache;
}
