// The formats. A new one is a row of type Format in the *_format.cc of its system, declared here and listed in
// foreign.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "filter/formats/probe.h"
#include "tamis/foreign.h"

namespace tamis::foreign {

/// The fields of BuildOptions that a format may use, as bits of a set.
enum Parameter : std::uint32_t {
  kTakesExpectedKeys = 1,
  kTakesRate = 2,
  kTakesBits = 4,
  kTakesHashes = 8,
  kTakesBitsPerKey = 16,
  kTakesWords = 32,
  kTakesBlocks = 64,
  kTakesSeed = 128,
  kTakesVariant = 256,
  kTakesRateOfOne = 512,  // A rate of 1 is allowed and means no filter.
};
using ParameterSet = std::uint32_t;

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
  /// The bits and hashes that `build` chooses for this many keys. Null only if the file holds both.
  Result<BloomShape> (*size)(const BuildOptions& options, std::uint64_t keys) = nullptr;
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

extern const Format kCassandraNewFormat, kCassandraOldFormat, kCassandraOldH1H2Format;
extern const Format kRocksDbTableFormat, kRocksDbRawFormat;
extern const Format kLevelDbTableFormat, kLevelDbRawFormat, kBadgerFormat;
extern const Format kSparkFormat;
extern const Format kGuavaFormat;
extern const Format kParquetFormat, kSbbfThriftFormat, kSbbfFormat;
extern const Format kGoBloomFormat, kGoBloomJsonFormat, kGoArticleFormat, kGoArticleLeFormat, kGoArticleJsonFormat;
extern const Format kLabFormat, kLessonFormat, kPyChapterFormat;

/// kInvalidArgument names the known formats.
Result<const Format*> find_format(std::string_view name);

}  // namespace tamis::foreign
