// Truncated, extended and altered files yield an error or an answer, never a crash, and lose no key where a checksum or
// length could have detected the damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/golden_files.h"

namespace tamis::foreign {
namespace {

using nlohmann::json;

const std::vector<std::string>& some_keys() {
  static const std::vector<std::string> keys = {"", "a", "user:42", std::string(300, '\xff'), std::string(16, '\0')};
  return keys;
}

/// Opens damaged bytes, probes a little and reads every bit. Returns whether it opened.
bool survives(const std::string& bytes, const OpenOptions& options) {
  const auto filter = ForeignFilter::from_bytes(as_bytes(bytes), options, "damaged");
  if (!filter.ok()) {
    EXPECT_FALSE(filter.status().message().empty());
    return false;
  }
  for (const std::string& key : some_keys()) static_cast<void>(filter->may_contain(key));
  const ForeignInfo info = filter->info();
  EXPECT_GE(info.fill, 0);
  EXPECT_LE(info.fill, 1);
  return true;
}

/// Every golden file once, with the options that open it.
template <typename Check>
void for_each_file(Check check) {
  std::set<std::string> seen;
  for (const json& entry : golden_index("filters")) {
    const std::string file = entry["file"];
    if (!seen.insert(file).second) continue;
    SCOPED_TRACE(file);
    check(golden_bytes(file), golden_open_options(entry), entry);
  }
  EXPECT_GE(seen.size(), 80U);
}

/// All offsets of a small file; for a large one, both ends and a sample of the middle.
std::vector<std::size_t> offsets_to_try(std::size_t size, std::size_t end_bytes) {
  std::vector<std::size_t> offsets;
  for (std::size_t at = 0; at < size;) {
    offsets.push_back(at);
    const bool near_an_end = at < end_bytes || at + end_bytes >= size;
    at += near_an_end ? 1 : std::max<std::size_t>(1, size / 200);
  }
  return offsets;
}

bool length_is_checked(const std::string& format) {
  static const std::set<std::string> unchecked = {"leveldb-raw", "badger", "rocksdb-raw", "sbbf"};
  return !unchecked.contains(format);
}

TEST(Damage, AnotherLengthIsRefusedWhereTheLengthIsKnown) {
  for_each_file([](const std::string& bytes, const OpenOptions& options, const json&) {
    std::vector<std::size_t> sizes = offsets_to_try(bytes.size(), 150);
    for (const std::size_t extra : {1, 7, 8, 16, 32, 64, 4096}) sizes.push_back(bytes.size() + extra);
    for (const std::size_t size : sizes) {
      std::string changed = bytes;
      changed.resize(size);
      const bool opened = survives(changed, options);
      const bool no_filter_at_all = size == 0 && options.format.starts_with("cassandra");
      if (length_is_checked(options.format)) {
        EXPECT_EQ(opened, no_filter_at_all) << "cut or extended to " << size;
      }
    }
  });
}

TEST(Damage, AlteredBytesNeverCrash) {
  std::size_t tried = 0;
  for_each_file([&tried](const std::string& bytes, const OpenOptions& options, const json&) {
    for (const std::size_t at : offsets_to_try(bytes.size(), 80)) {
      for (const unsigned char flip : {0x01, 0x80, 0xff}) {
        std::string altered = bytes;
        altered[at] = static_cast<char>(static_cast<unsigned char>(altered[at]) ^ flip);
        static_cast<void>(survives(altered, options));
        ++tried;
      }
    }
  });
  EXPECT_GT(tried, 10'000U);
}

TEST(Damage, EveryFormatSurvivesEveryOtherFormatsFiles) {
  for_each_file([](const std::string& bytes, const OpenOptions&, const json&) {
    for (const FormatInfo& format : formats()) {
      OpenOptions options = {.format = std::string(format.name)};
      if (format.needs_bits_to_probe) options.bits = bytes.size() * 8;
      if (format.needs_hashes_to_probe) options.hashes = 3;
      static_cast<void>(survives(bytes, options));
    }
  });
}

TEST(Damage, AFlippedBitOfATableNeverLosesAKey) {
  std::size_t refused = 0;
  std::size_t harmless = 0;
  for_each_file([&](const std::string& bytes, const OpenOptions& options, const json& entry) {
    if (options.format != "leveldb-table" && options.format != "rocksdb-sst") return;
    std::vector<std::string> keys = golden_keys(entry["keys"].get<std::string>());
    keys.resize(100);
    for (const std::size_t at : offsets_to_try(bytes.size(), 200)) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        std::string altered = bytes;
        altered[at] = static_cast<char>(static_cast<unsigned char>(altered[at]) ^ (1U << bit));
        const auto filter = ForeignFilter::from_bytes(as_bytes(altered), options, "altered");
        ++(filter.ok() ? harmless : refused);
        if (!filter.ok()) continue;
        ASSERT_TRUE(std::all_of(keys.begin(), keys.end(), [&](const auto& key) { return filter->may_contain(key); }))
            << "bit " << bit << " of byte " << at;
      }
    }
  });
  EXPECT_GT(refused, 1000U);
  EXPECT_GT(harmless, 1000U);
}

TEST(Damage, AbsurdHeadersAreRefusedBeforeMemoryIsTaken) {
  const std::pair<std::string, std::string> headers[] = {
      // Format, and the whole file in hexadecimal.
      {"cassandra-new", "00000005"},                                                     // No words.
      {"cassandra-new", "0000000500000000"},                                             // Zero words.
      {"cassandra-new", "000000057fffffff"},                                             // 16 GiB declared.
      {"cassandra-new", "00000005ffffffff"},                                             // Negative.
      {"cassandra-new", "00000000000000010000000000000000"},                             // No hashes.
      {"cassandra-new", "00000016000000010000000000000000"},                             // 22 hashes.
      {"cassandra-old", "ffffffff000000010000000000000000"},                             // Negative hashes.
      {"lab", "00000000080000000000000000"},                                             // No hashes.
      {"lab", "ffffffff080000000000000000"},                                             // Four billion hashes.
      {"lab", "01000000000000000000000000"},                                             // No bits, one extra byte.
      {"lab", "010000000000000000000000"},                                               // No bits.
      {"lab", "01000000ffffffffffffffff00"},                                             // The max number of bits.
      {"lesson", "0000000001000000"},                                                    // No bits.
      {"lesson", "080000000000000000"},                                                  // No hashes.
      {"lesson", "08000000ffffffff00"},                                                  // Four billion hashes.
      {"lesson", "ffffffff0100000000"},                                                  // Half a gigabyte declared.
      {"go-bloom", "000000000000000000000000000000010000000000000000"},                  // No bits.
      {"go-bloom", "ffffffffffffffff0000000000000001ffffffffffffffff"},                  // The max number of bits.
      {"go-bloom", "0000000000000040000000000000000100000000000000410000000000000000"},  // One word too few.
      {"go-bloom", "00000000000000400000000000000000000000000000004000000000000000ff"},  // No hashes.
      {"spark", "00000001000000010000000000"},                                           // No words.
      {"spark", "0000000100000001ffffffff"},                                             // Negative.
      {"spark", "000000020000000100000000"},                                             // V2 truncated.
      {"spark", "00000001ffffffff000000010000000000000000"},                             // Negative hashes.
      {"guava", "010000000001ffffffffffffffff"},                                         // No hashes.
      {"guava", "01017fffffff"},                                                         // 16 GiB declared.
      {"guava", "ff01000000010000000000000000"},                                         // Strategy -1.
      {"sbbf", ""},
      {"sbbf-thrift", "15801f1c1c00001c1c00001c1c000000"},  // A missing bitset.
      {"sbbf-thrift", "15001c1c00001c1c00001c1c000000"},    // No bytes.
      {"sbbf-thrift", "00"},                                // No fields.
      {"parquet", "ffffffff50415231"},                      // A footer longer than the file.
      {"go-bloom-json", "7b7d"},                            // {}
      {"go-bloom-json", "7b226d223a302c226b223a312c2262223a224141414141414141414141227d"},  // No bits.
      {"go-bloom-json", "7b226d223a2d312c226b223a312c2262223a22227d"},                      // m = -1.
      {"go-article-json", "2241414141414141414141433d22"},                                  // Bits without words.
  };
  for (const auto& [format, hex] : headers) {
    SCOPED_TRACE(format + " " + hex);
    const auto filter = ForeignFilter::from_bytes(as_bytes(from_hex(hex)), {.format = format, .hashes = 3}, "absurd");
    ASSERT_FALSE(filter.ok());
    EXPECT_EQ(filter.status().code(), StatusCode::kCorruption) << filter.status().to_text();
  }
}

TEST(Damage, UnknownParquetChoicesAreNotSupported) {
  const std::string other_hash = from_hex("15401c1c00001c2c00001c1c000000") + std::string(32, '\0');
  const auto filter = ForeignFilter::from_bytes(as_bytes(other_hash), {.format = "sbbf-thrift"}, "other");
  EXPECT_EQ(filter.status().code(), StatusCode::kNotSupported) << filter.status().to_text();
}

TEST(Damage, ThriftNestedWithoutEndDoesNotExhaustTheStack) {
  // FileMetaData whose field 1 is a list of a list of a list …
  std::string metadata = "\x19" + std::string(200'000, '\x19');
  append_le(metadata, static_cast<std::uint32_t>(metadata.size()));
  metadata += "PAR1";
  EXPECT_FALSE(survives(metadata, {.format = "parquet"}));
}

TEST(Damage, JsonNestedWithoutEndDoesNotExhaustTheStack) {
  EXPECT_FALSE(survives(std::string(1'000'000, '['), {.format = "go-article-json", .hashes = 3}));
  EXPECT_FALSE(survives("{\"m\":" + std::string(1'000'000, '['), {.format = "go-bloom-json"}));
}

TEST(Damage, ADamagedTableIsCalledDamagedWhateverItsName) {
  for (const char* name : {"leveldb/table-mixed-1000-bpk10.ldb", "rocksdb/bloom-fv5-mixed-1000-bpk10.sst"}) {
    std::string bytes = golden_bytes(name);
    bytes.erase(10, 1);  // Every block has moved.
    const auto filter = ForeignFilter::from_bytes(as_bytes(bytes), {}, "nameless");
    EXPECT_EQ(filter.status().code(), StatusCode::kCorruption) << filter.status().to_text();
  }
}

TEST(Damage, ALabFilterMayHaveMoreHashesThanItsWriterWouldChoose) {
  std::string file;
  append_le<std::uint32_t>(file, 64);
  append_le<std::uint64_t>(file, 8);
  file.push_back('\xff');
  const auto filter = ForeignFilter::from_bytes(as_bytes(file), {.format = "lab"});
  ASSERT_TRUE(filter.ok()) << filter.status().to_text();
  EXPECT_TRUE(filter->may_contain("anything"));
  EXPECT_EQ(filter->info().hashes, 64U);
}

}  // namespace
}  // namespace tamis::foreign
