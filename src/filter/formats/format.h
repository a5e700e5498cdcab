// The seam between the registry and the formats: a format is one of these rows, defined in its own *_format.cc.
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

/// A file to open. The bytes outlive the probe made from them; the rest only the call.
struct Input {
  Bytes bytes;
  std::string_view name;
  const OpenOptions& options;
};

/// How well bytes match a format.
enum class Fit : std::uint8_t {
  kNo,
  kPossible,  // Nothing contradicts it, but nearly anything would do.
  kStrong,    // A signature, or lengths in the header that agree with the size.
};

/// One format: what it is called, and how it is read, written and recognised. The functions trust `Input` and
/// `BuildOptions` no further than their types; parameters a format does not take were refused before.
///
/// Threads: constant.
struct Format {
  FormatInfo info;
  ParameterSet takes;  // What `build` has a use for.
  Result<ProbePtr> (*open)(const Input& input);
  Result<std::string> (*build)(std::span<const std::string> keys, const BuildOptions& options);  // Null: read only.
  Fit (*fit)(const Input& input);
  /// Only where the file does not hold both: the bits and hashes that `build` chooses for so many keys.
  Result<BloomShape> (*out_of_band)(const BuildOptions& options, std::uint64_t keys) = nullptr;
  /// Formats of one family set the same bits for a key, so one can be written from another's bits. Empty: it has none.
  std::string_view family = {};
  std::string (*rewrite)(const PlainBits& plain) = nullptr;  // Null: it cannot be written so.
};

/// For formats whose headers leave no room for accidents: strong when it opens, or would with more options.
template <Result<ProbePtr> (*kOpen)(const Input&)>
Fit fit_if_it_opens(const Input& input) {
  const Result<ProbePtr> probe = kOpen(input);
  return probe.ok() || probe.status().code() == StatusCode::kInvalidArgument ? Fit::kStrong : Fit::kNo;
}

/// The most hashes a file may ask for where its format sets no limit: no writer comes near, and no probe takes for
/// ever.
inline constexpr std::uint32_t kMaxHashes = 65536;

}  // namespace tamis::foreign
