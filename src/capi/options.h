// The options of the C API.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tamis/c/options.h"
#include "tamis/call_options.h"
#include "tamis/environment.h"
#include "tamis/iterator.h"
#include "tamis/keyspace.h"
#include "tamis/options.h"

struct tamis_options {
  tamis::Options options;
  std::shared_ptr<tamis::EventListener> listener;
};

struct tamis_keyspace_options {
  tamis::KeyspaceOptions options;
};

struct tamis_write_options {
  tamis::WriteOptions options;
};

struct tamis_read_options {
  tamis::ReadOptions options;
};

/// Owns its bounds.
struct tamis_scan_options {
  std::string prefix;
  std::optional<std::string> from;
  std::optional<std::string> to;
  tamis::ScanOptions options;  // Without the bounds.
};

struct tamis_snapshot {
  tamis::Snapshot snapshot;
};

namespace tamis::capi {

inline WriteOptions given(const tamis_write_options_t* options) {
  return options != nullptr ? options->options : WriteOptions();
}
inline ReadOptions given(const tamis_read_options_t* options) {
  return options != nullptr ? options->options : ReadOptions();
}
/// Its views are valid as long as `options`.
ScanOptions given(const tamis_scan_options_t* options);

}  // namespace tamis::capi
