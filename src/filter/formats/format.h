// The interface between registry and formats: each format is one of these rows, defined in its own *_format.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "filter/formats/parameters.h"
#include "filter/formats/probe.h"
#include "tamis/foreign.h"

namespace tamis::foreign {

/// A file to open. The bytes outlive the probe made from them; the rest lives for the call.
struct Input {
  Bytes bytes;
  std::string_view name;
  const OpenOptions& options;
};

/// How well bytes match a format.
enum class Fit : std::uint8_t {
  kNo,
  kPossible,  // Nothing contradicts it, but almost anything would fit.
  kStrong,    // A signature, or lengths in the header that match the size.
};

/// One format: its name, and how it is read, written and recognised. The functions trust only the types of `Input` and
/// `BuildOptions`; parameters that a format does not take were rejected before.
///
/// Threads: immutable.
struct Format {
  FormatInfo info;
  ParameterSet takes;  // The parameters that `build` uses.
  Result<ProbePtr> (*open)(const Input& input);
  Result<std::string> (*build)(std::span<const std::string> keys, const BuildOptions& options);  // Null: read-only.
  Fit (*fit)(const Input& input);
  /// Only if the file does not hold both: the bits and hashes that `build` chooses for this many keys.
  Result<BloomShape> (*out_of_band)(const BuildOptions& options, std::uint64_t keys) = nullptr;
  /// Formats of one family set the same bits for a key, so one can be written from another's bits. Empty: none.
  std::string_view family = {};
  std::string (*rewrite)(const PlainBits& plain) = nullptr;  // Null: not writable this way.
};

/// For formats whose headers rule out accidents: strong if it opens, or would with more options.
template <Result<ProbePtr> (*kOpen)(const Input&)>
Fit fit_if_it_opens(const Input& input) {
  const Result<ProbePtr> probe = kOpen(input);
  return probe.ok() || probe.status().code() == StatusCode::kInvalidArgument ? Fit::kStrong : Fit::kNo;
}

/// The max hashes of a file whose format sets no limit: far above any writer, and low enough that probes end.
inline constexpr std::uint32_t kMaxHashes = 65536;

}  // namespace tamis::foreign
