// Names, sizes, indexes and verification of Cassandra's files.
#include "filter/formats/cassandra.h"

#include <gtest/gtest.h>

#include "io/file.h"
#include "support/golden_files.h"
#include "support/scratch_folder.h"

namespace tamis::foreign {
namespace {

class CassandraFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) {
    const std::string path = folder_.path(name);
    EXPECT_TRUE(write_file(path, as_bytes(bytes)).ok());
    return path;
  }

 private:
  test::ScratchFolder folder_;
};

TEST(CassandraName, TellsTheLayoutByVersion) {
  const std::pair<const char*, const char*> names[] = {
      {"nb-1-big-Filter.db", "cassandra-new"},
      {"/data/ks/t-1b255f4def2540a60000000000000005/me-12-big-Filter.db", "cassandra-old"},
      {"oa-3fw2_0tj4_46w3k2cpidnirvjy7k-big-Filter.db", "cassandra-new"},
      {"da-3fw2_0tj4_46w3k2cpidnirvjy7k-bti-Filter.db", "cassandra-new"},
      {"la-1-big-Index.db", "cassandra-old-h1h2"},
      {"lb-7-big-Filter.db", "cassandra-old-h1h2"},
      {"ma-1-big-Filter.db", "cassandra-old"},
      {"na-1-big-Filter.db", "cassandra-new"},
      {"Keyspace1-Standard1-jb-0-Filter.db", "cassandra-old-h1h2"},
      {"Keyspace1-Standard1-tmp-ka-12-Filter.db", "cassandra-old-h1h2"},
      {"ks-t-ia-1-Filter.db", "cassandra-old-h1h2"},
  };
  for (const auto& [name, format] : names) {
    const auto found = cassandra_format_of_name(name);
    ASSERT_TRUE(found.ok()) << name << ": " << found.status().to_text();
    EXPECT_EQ(*found, format) << name;
  }
}

TEST(CassandraName, RefusesWhatIsTooOldOrSaysNothing) {
  EXPECT_EQ(cassandra_format_of_name("ks-t-hf-1-Filter.db").status().code(), StatusCode::kNotSupported);
  EXPECT_EQ(cassandra_format_of_name("ca-1-bti-Filter.db").status().code(), StatusCode::kNotSupported);
  for (const char* name : {"", "Filter.db", "nb-Filter.db", "x/y", "n1-1-big-Filter.db", "nb-1-huge-Filter.db",
                           "new-user-100-n100-fp0.01-Filter.db", "nb-1-big-Filter"}) {
    EXPECT_EQ(cassandra_format_of_name(name).status().code(), StatusCode::kInvalidArgument) << name;
  }
}

TEST(CassandraName, DecidesWhenAFilterIsOpened) {
  const std::string bytes = golden_bytes("cassandra/old-h1h2-user-100-n100-fp0.1-Filter.db");
  EXPECT_EQ(ForeignFilter::from_bytes(as_bytes(bytes), {}, "ks-t-jb-3-Filter.db")->info().format, "cassandra-old-h1h2");
  EXPECT_EQ(ForeignFilter::from_bytes(as_bytes(bytes), {}, "nb-3-big-Filter.db")->info().format, "cassandra-new");
  EXPECT_EQ(ForeignFilter::from_bytes(as_bytes(bytes), {}, "ks-t-hf-3-Filter.db").status().code(),
            StatusCode::kNotSupported);
  EXPECT_EQ(ForeignFilter::from_bytes(as_bytes(bytes), {}, "Filter.db").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ForeignFilter::from_bytes(as_bytes(bytes.substr(1)), {}, "nb-3-big-Filter.db").status().code(),
            StatusCode::kCorruption);
}

TEST(CassandraSizing, FollowsItsTable) {
  const struct {
    double rate;
    std::uint32_t hashes, bits_per_key;
  } rows[] = {{.5, 2, 1},    {.393, 2, 1},  {.392, 1, 3},      {.25, 2, 3},     {.1, 3, 5},        {.092, 3, 5},
              {.0919, 2, 6}, {.0561, 4, 6}, {.05, 3, 7},       {.024, 4, 8},    {.01, 5, 10},      {.00509, 8, 11},
              {.003, 6, 13}, {.001, 7, 15}, {.000176, 12, 18}, {.0001, 10, 20}, {.0000671, 14, 20}};
  for (const auto& row : rows) {
    const auto file = build({}, {.format = "cassandra-new", .expected_keys = 6'400, .fpr = row.rate});
    ASSERT_TRUE(file.ok()) << row.rate;
    EXPECT_EQ(load_be<std::uint32_t>(file->data()), row.hashes) << row.rate;
    EXPECT_EQ(load_be<std::uint32_t>(file->data() + 4), 100 * row.bits_per_key + 1) << row.rate;
  }
  EXPECT_EQ(build({}, {.format = "cassandra-new", .fpr = .000067}).status().code(), StatusCode::kInvalidArgument);
}

TEST(CassandraSizing, ARateOfOneWritesNoFilter) {
  const std::vector<std::string> keys = {"a"};
  for (const std::string_view format : kCassandraFormats) {
    const auto file = build(keys, {.format = std::string(format), .fpr = 1.0});
    ASSERT_TRUE(file.ok());
    EXPECT_TRUE(file->empty());
    EXPECT_TRUE(ForeignFilter::from_bytes({}, {.format = std::string(format)})->may_contain("never added"));
  }
}

TEST_F(CassandraFiles, AnIndexWithoutAVersionInItsNameIsReadEitherWay) {
  const auto with_name = cassandra_index_keys(golden_path("cassandra/rebuild/mixed-1000-nb/nb-1-big-Index.db"));
  ASSERT_TRUE(with_name.ok());
  EXPECT_EQ(with_name->size(), 1000U);
  const auto nameless =
      cassandra_index_keys(write("index-vints", golden_bytes("cassandra/rebuild/mixed-1000-nb/nb-1-big-Index.db")));
  ASSERT_TRUE(nameless.ok()) << nameless.status().to_text();
  EXPECT_EQ(*nameless, *with_name);
  const auto fixed =
      cassandra_index_keys(write("index-fixed", golden_bytes("cassandra/rebuild/user-100-ka/ks-t-ka-1-Index.db")));
  ASSERT_TRUE(fixed.ok()) << fixed.status().to_text();
  EXPECT_EQ(fixed->size(), 100U);
}

TEST_F(CassandraFiles, ATruncatedIndexIsRefused) {
  const std::string whole = golden_bytes("cassandra/rebuild/user-100-ka/ks-t-ka-1-Index.db");
  std::size_t refused = 0;
  for (std::size_t size = whole.size() - 30; size < whole.size(); ++size) {
    refused += !read_cassandra_index(as_bytes(whole.substr(0, size)), "cut", CassandraNumbers::kFixed).ok();
  }
  EXPECT_GE(refused, 28U);  // All but the cuts between two entries.
  EXPECT_EQ(cassandra_index_keys(golden_path("cassandra/no-such-Index.db")).status().code(), StatusCode::kIoError);
}

TEST(CassandraIndex, VintsOfEveryLength) {
  for (int extra = 0; extra <= 8; ++extra) {
    std::string entry = std::string("\0\1k", 3);
    entry.push_back(static_cast<char>(0xff00U >> extra));  // A position with this many more bytes, all zero.
    entry.append(static_cast<std::size_t>(extra), '\0');
    entry.push_back('\2');  // Two opaque bytes follow.
    entry += "xy";
    const auto keys = read_cassandra_index(as_bytes(entry), "vints", CassandraNumbers::kVariable);
    ASSERT_TRUE(keys.ok()) << extra << keys.status().to_text();
    EXPECT_EQ(*keys, std::vector<std::string>{"k"});
  }
}

TEST_F(CassandraFiles, ADamagedFilterIsToldFromAMislabelledOne) {
  const std::string index = golden_path("cassandra/rebuild/mixed-1000-nb/nb-1-big-Index.db");
  std::string bytes = golden_bytes("cassandra/rebuild/mixed-1000-nb/nb-1-big-Filter.db");
  std::fill(bytes.begin() + 108, bytes.begin() + 208, '\0');
  const auto damaged = cassandra_verify(write("nb-1-big-Filter.db", bytes), index);
  ASSERT_TRUE(damaged.ok()) << damaged.status().to_text();
  EXPECT_EQ(damaged->verdict, VerifyReport::Verdict::kDamaged);
  EXPECT_GT(damaged->missing.size(), 0U);
  EXPECT_TRUE(damaged->fitting_formats.empty());

  bytes.pop_back();
  EXPECT_EQ(cassandra_verify(write("nb-1-big-Filter.db", bytes), index).status().code(), StatusCode::kCorruption);
  const std::string empty = write("nb-1-big-Filter.db", "");
  const auto absent = cassandra_verify(empty, index);
  ASSERT_TRUE(absent.ok());
  EXPECT_EQ(absent->verdict, VerifyReport::Verdict::kOk);
  EXPECT_EQ(cassandra_rebuild(index, {.like = empty}).status().code(), StatusCode::kCorruption);
}

TEST_F(CassandraFiles, WithoutAVersionTheFittingLayoutIsFound) {
  const std::string index = golden_path("cassandra/rebuild/mixed-1000-me/me-1-big-Index.db");
  const std::string filter = write("mystery.db", golden_bytes("cassandra/rebuild/mixed-1000-me/me-1-big-Filter.db"));
  const auto report = cassandra_verify(filter, index);
  ASSERT_TRUE(report.ok()) << report.status().to_text();
  EXPECT_EQ(report->verdict, VerifyReport::Verdict::kOk);
  EXPECT_EQ(report->implied_format, "");
  EXPECT_EQ(report->checked_format, "cassandra-old");
  EXPECT_EQ(report->fitting_formats, std::vector<std::string_view>{"cassandra-old"});

  const auto given = cassandra_verify(filter, index, "cassandra-new");
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given->verdict, VerifyReport::Verdict::kLayoutMismatch);
  EXPECT_EQ(cassandra_verify(filter, index, "lab").status().code(), StatusCode::kInvalidArgument);
}

TEST(CassandraRebuild, RefusesContradictions) {
  const std::string index = golden_path("cassandra/rebuild/mixed-1000-me/me-1-big-Index.db");
  const std::string filter = golden_path("cassandra/rebuild/mixed-1000-me/me-1-big-Filter.db");
  EXPECT_EQ(cassandra_rebuild(index, {.fpr = 0.01, .like = filter}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(cassandra_rebuild(index, {.format = "lab"}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(cassandra_rebuild(index, {.fpr = 0.0}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(cassandra_rebuild(index, {.fpr = 0.00006}).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tamis::foreign
