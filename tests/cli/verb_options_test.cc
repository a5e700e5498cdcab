// A verb's help lists exactly the options that the verb reads: none that have no effect.
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/error.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "support/source_file.h"

namespace tamis::cli {
namespace {

/// A folder to run verbs in.
class VerbOptions : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(folder_);
    std::ofstream("entries") << "a\t1\nb\t2\n";
    std::ofstream("keys") << "a\nb\n";
    std::filesystem::copy(source_file("tests/golden/foreign/leveldb/folder"), "old");
    run("load store entries");
    run("flush store");
    for (const auto& file : std::filesystem::directory_iterator("store")) {
      if (file.path().extension() == ".tms") std::filesystem::copy_file(file.path(), "one.tms");
    }
    run("filter build --kind bloom --fpr 0.01 --keys keys -o bloom");
    run("filter build --kind counting --fpr 0.01 --keys keys -o counting");
    run("filter build --format cassandra-old --fpr 0.01 --keys keys -o Filter.db");
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

  /// Its output does not matter here, nor whether it fails.
  static void run(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    try {
      run_command(words);
    } catch (const CommandError& error) {
      ADD_FAILURE() << line << ": " << error.what();
    }
    standard_output().discard();
  }

 private:
  std::string folder_ = testing::TempDir() + "verb-options-XXXXXX";
  std::filesystem::path before_;
};

struct Named {
  std::string_view name;
  CommonOption option;
};
constexpr Named kNamed[] = {{"--json", kJson}, {"--hex", kHex}, {"-q,--quiet", kQuiet}, {"--no-progress", kNoProgress}};

bool lists(const VerbDescription& description, std::string_view name) {
  return std::ranges::any_of(description.arguments, [&](const auto& argument) { return argument.names == name; });
}

/// Each verb in one line or more, in an order in which each finds what it needs. The missing ones take too long here,
/// or become another program.
const std::vector<std::pair<std::string, std::vector<std::string>>> kLines = {
    {"put", {"put store k v", "put store k --from-file keys", "put store k v --if-absent"}},
    {"get", {"get store k", "get store none"}},
    {"delete", {"delete store k"}},
    {"delete-range", {"delete-range store x y", "delete-range store z"}},
    {"merge", {"merge numbers n 1 --operator add_i64", "merge numbers n 2"}},
    {"multi-get", {"multi-get store a"}},
    {"scan", {"scan store", "scan store --keys-only"}},
    {"count", {"count store"}},
    {"load", {"load store entries"}},
    {"dump", {"dump store"}},
    {"import leveldb", {"import leveldb old new"}},
    {"keyspaces", {"keyspaces store", "keyspaces store --create other", "keyspaces store --drop other"}},
    {"explain", {"explain store a", "explain store a --json"}},
    {"stats", {"stats store", "stats store --prometheus"}},
    {"top", {"top store --once"}},
    {"plan", {"plan store"}},
    {"flush", {"flush store"}},
    {"compact", {"compact store"}},
    {"checkpoint", {"checkpoint store copy"}},
    {"verify", {"verify store"}},
    {"table", {"table one.tms", "table one.tms --entries"}},
    {"options", {"options"}},
    {"filter build", {"filter build --kind bloom --fpr 0.01 --keys keys -o other"}},
    {"filter probe", {"filter probe bloom a", "filter probe bloom --keys keys"}},
    {"filter add", {"filter add bloom b", "filter add bloom --keys keys"}},
    {"filter remove", {"filter remove counting b", "filter remove counting --keys keys"}},
    {"filter info", {"filter info bloom"}},
    {"filter size", {"filter size --keys 1000 --fpr 0.01"}},
    {"filter kinds", {"filter kinds"}},
    {"filter formats", {"filter formats"}},
    {"filter union", {"filter union bloom other -o both"}},
    {"filter intersect", {"filter intersect bloom other -o common"}},
    {"filter convert", {"filter convert Filter.db --format cassandra-old --to cassandra-new -o converted"}},
    {"completion", {"completion bash"}},
    {"manual", {"manual"}},
    {"version", {"version"}},
};
const std::set<std::string_view> kLeftOut = {"repair",      "import rocksdb", "filter verify", "filter rebuild",
                                             "filter plot", "bench",          "demo",          "torture",
                                             "web",         "bucket check"};

TEST_F(VerbOptions, HelpListsTheCommonOptionsThatTheVerbLooksAtAndNoOthers) {
  std::map<std::string_view, VerbDescription> verbs;
  for (DescribedVerb& verb : describe_verbs()) verbs[verb.name] = std::move(verb.description);
  for (const auto& [verb, lines] : kLines) {
    ASSERT_TRUE(verbs.contains(verb)) << verb;
    CommonFlag::forget();
    for (const std::string& line : lines) run(line);
    for (const auto& [name, option] : kNamed) {
      EXPECT_EQ(lists(verbs[verb], name), (CommonFlag::asked_for() & option) != 0) << "tamis " << verb << " " << name;
    }
    verbs.erase(verb);
  }
  for (const auto& [verb, description] : verbs) EXPECT_TRUE(kLeftOut.contains(verb)) << verb << " is not called here";
}

TEST(VerbHelp, ListsNoOptionTwiceAndShowsAnExampleOfTheVerb) {
  for (const DescribedVerb& verb : describe_verbs()) {
    std::set<std::string> seen;
    for (const auto& argument : verb.description.arguments) {
      EXPECT_TRUE(seen.insert(argument.names).second) << verb.name << " " << argument.names;
      EXPECT_NE(argument.names, "--read-only") << verb.name << ": reading verbs open the store this way anyway";
    }
    EXPECT_NE(verb.description.help.example.find("tamis " + std::string(verb.name)), std::string_view::npos)
        << verb.name;
  }
}

}  // namespace
}  // namespace tamis::cli
