#include "web/filter_lab.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/error.h"
#include "tamis/filter.h"

namespace tamis::web {
namespace {

using Json = nlohmann::json;

Json lab(const Parameters& parameters) { return Json::parse(filter_lab(parameters)); }

/// Kinds that cannot have every size get one that they can.
std::string bits_for(std::string_view kind) {
  if (kind == "fuse") return "9";
  return kind == "cuckoo" ? "13" : "10";
}

TEST(FilterLab, MakesEveryKindAndMeasuresItsRate) {
  for (const FilterKindInfo& kind : filter_kinds()) {
    const std::string name(kind.name);
    const Json made = lab({{"kind", name},
                           {"capacity", "2000"},
                           {"bits_per_key", bits_for(name)},
                           {"key", "oslo"},
                           {"generated", "1999"},
                           {"probe", "oslo"}});
    EXPECT_EQ(made["kind"], name);
    EXPECT_EQ(made["refused"], "") << name;
    EXPECT_EQ(made["probe"]["answer"], "maybe") << name;
    EXPECT_EQ(made["probe"]["was_added"], true) << name;
    EXPECT_NEAR(made["fpr_measured"].get<double>(), made["fpr_estimated"].get<double>(), 0.005) << name;
  }
}

TEST(FilterLab, TheBitsOfAKeyAreThoseThatItSets) {
  const Json empty = lab({{"capacity", "100"}, {"probe", "rome"}});
  EXPECT_EQ(empty["probe"]["answer"], "no");
  EXPECT_EQ(empty["body_hex"].get<std::string>().find_first_not_of('0'), std::string::npos);
  const Json one = lab({{"capacity", "100"}, {"key", "rome"}});
  EXPECT_EQ(one["last_key"]["bits"], empty["probe"]["bits"]);
  EXPECT_LE(one["last_key"]["bits"].size(), one["hashes"].get<std::size_t>());
  const std::string body = one["body_hex"];
  for (const std::size_t bit : one["last_key"]["bits"]) {
    EXPECT_TRUE(std::stoul(body.substr(bit / 8 * 2, 2), nullptr, 16) >> bit % 8 & 1U) << bit;
  }
}

TEST(FilterLab, AFullFilterSaysThatItIsFull) {
  const Json full = lab({{"kind", "cuckoo"}, {"capacity", "100"}, {"bits_per_key", "13"}, {"generated", "5000"}});
  EXPECT_NE(full["refused"], "");
  EXPECT_LT(full["keys"].get<int>(), 5000);
  EXPECT_GE(full["keys"].get<int>(), 100);
}

TEST(FilterLab, RefusesWhatIsTooMuch) {
  for (const auto& [name, value] : Parameters{{"capacity", "0"},
                                              {"capacity", "100001"},
                                              {"generated", "100001"},
                                              {"bits_per_key", "65"},
                                              {"bits_per_key", "-1"},
                                              {"kind", "none"}}) {
    EXPECT_THROW((void)filter_lab({{name, value}}), cli::CommandError) << name << " " << value;
  }
}

}  // namespace
}  // namespace tamis::web
