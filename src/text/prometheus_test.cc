#include "tamis/prometheus.h"

#include <gtest/gtest.h>

#include <charconv>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "support/source_file.h"

namespace tamis {
namespace {

using Json = nlohmann::json;

/// One line "name{label="value"} number".
struct Sample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};

/// Reads the format strictly: any line that it does not allow fails the test.
class Exposition {
 public:
  explicit Exposition(const std::string& text) {
    EXPECT_TRUE(text.ends_with('\n'));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) take(line);
    EXPECT_EQ(helps_.size(), types_.size());
    for (const auto& [name, type] : types_) {
      if (type == "histogram") check_histogram(name);
    }
  }

  [[nodiscard]] const std::map<std::string, std::string>& types() const { return types_; }
  /// The only sample of this name and, if a label is given, with this label.
  [[nodiscard]] std::optional<double> value(const std::string& name, const std::string& label = {},
                                            const std::string& of = {}) const {
    std::optional<double> found;
    for (const Sample& sample : samples_) {
      if (sample.name != name || (!label.empty() && sample.labels.at(label) != of)) continue;
      EXPECT_FALSE(found) << name << " is there twice";
      found = sample.value;
    }
    return found;
  }

 private:
  void take(const std::string& line) {
    static const std::regex help("# HELP ([a-z_]+) ([^\\\\]+)");
    static const std::regex type("# TYPE ([a-z_]+) (counter|gauge|histogram)");
    static const std::regex sample("([a-z_]+)(?:\\{(.*)\\})? ([^ ]+)");
    std::smatch match;
    if (std::regex_match(line, match, help)) {
      EXPECT_TRUE(helps_.insert(match[1]).second) << line;
    } else if (std::regex_match(line, match, type)) {
      current_ = match[1];
      EXPECT_TRUE(helps_.contains(current_)) << "no help before: " << line;
      EXPECT_TRUE(types_.emplace(current_, match[2]).second) << "twice: " << line;
      EXPECT_TRUE(current_.starts_with("tamis_")) << line;
      EXPECT_EQ(current_.ends_with("_total"), match[2] == "counter") << line;
    } else if (std::regex_match(line, match, sample)) {
      add({match[1], labels_of(match[2]), number_of(match[3])});
    } else {
      ADD_FAILURE() << "not a line of the format: " << line;
    }
  }
  void add(const Sample& sample) {
    std::string family = sample.name;
    if (types_[current_] == "histogram") family = std::regex_replace(family, std::regex("_(bucket|sum|count)$"), "");
    EXPECT_EQ(family, current_) << sample.name << " is not with its family";
    EXPECT_TRUE(types_[current_] != "counter" || sample.value >= 0) << sample.name;
    EXPECT_TRUE(seen_.emplace(sample.name, sample.labels).second) << sample.name << " is there twice";
    samples_.push_back(sample);
  }
  static double number_of(const std::string& text) {
    double number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    EXPECT_TRUE(error == std::errc() && end == text.data() + text.size()) << "not a number: " << text;
    return number;
  }
  /// Undoes the escapes.
  static std::map<std::string, std::string> labels_of(const std::string& text) {
    static const std::regex label("([a-z_]+)=\"((?:[^\"\\\\]|\\\\[\\\\\"n])*)\"(,|$)");
    std::map<std::string, std::string> labels;
    auto at = text.begin();
    for (std::smatch match; at != text.end(); at = match[0].second) {
      if (!std::regex_search(at, text.end(), match, label, std::regex_constants::match_continuous)) {
        ADD_FAILURE() << "bad labels: " << text;
        break;
      }
      std::string value;
      for (auto c = match[2].first; c != match[2].second; ++c) {
        if (*c != '\\') {
          value += *c;
        } else {
          ++c;
          value += *c == 'n' ? '\n' : *c;
        }
      }
      EXPECT_TRUE(labels.emplace(match[1], value).second) << text;
    }
    return labels;
  }
  void check_histogram(const std::string& name) const {
    double bound = -1;
    double count = 0;
    bool has_end = false;
    for (const Sample& sample : samples_) {
      if (sample.name != name + "_bucket") continue;
      const std::string& le = sample.labels.at("le");
      EXPECT_FALSE(has_end) << name << ": a bucket after +Inf";
      has_end = le == "+Inf";
      if (!has_end) {
        EXPECT_GT(number_of(le), bound) << name;
        bound = number_of(le);
      }
      EXPECT_GE(sample.value, count) << name << " is not cumulative at " << le;
      count = sample.value;
    }
    EXPECT_TRUE(has_end) << name;
    EXPECT_EQ(value(name + "_count"), count) << name;
    EXPECT_TRUE(value(name + "_sum")) << name;
  }

  std::string current_;
  std::set<std::string> helps_;
  std::map<std::string, std::string> types_;
  std::set<std::pair<std::string, std::map<std::string, std::string>>> seen_;
  std::vector<Sample> samples_;
};

Stats example() {
  Stats stats;
  stats.levels = {{.level = 0, .tables = 3}, {.level = 1, .tables = 12, .false_positives = 2}};
  stats.cache = {.policy = "s3fifo", .hits = 10, .misses = 7, .index_hits = 4, .index_misses = 5};
  stats.memory.filters = 1234;
  stats.stalls = {.delayed_writes = 2, .delay_us = 2'500'000, .longest_us = 1'500'000};
  stats.gets = 1'000'000'007;
  stats.compaction_backlog = 4096;
  stats.latencies.get.sum_ns = 3'000'001'500;
  stats.latencies.get.buckets.front() = 3;
  stats.latencies.get.buckets[4] = 2;
  stats.latencies.get.buckets.back() = 1;
  stats.latencies.get.count = 6;
  return stats;
}

std::vector<KeyspaceInfo> keyspaces() {
  return {{.name = "default", .options = {}, .tables = 1}, {.name = "a\"b\\c\nd", .options = {}, .tables = 2}};
}

TEST(Prometheus, HasTheNumbersOfTheStore) {
  const Exposition text(to_prometheus(example()));
  EXPECT_EQ(text.types().at("tamis_gets_total"), "counter");
  EXPECT_EQ(text.value("tamis_gets_total"), 1'000'000'007);
  EXPECT_EQ(text.types().at("tamis_compaction_backlog_bytes"), "gauge");
  EXPECT_EQ(text.value("tamis_compaction_backlog_bytes"), 4096);
  EXPECT_EQ(text.value("tamis_write_stall_seconds_total"), 2.5);
  EXPECT_EQ(text.value("tamis_write_stall_longest_seconds"), 1.5);
  EXPECT_EQ(text.value("tamis_level_tables", "level", "1"), 12);
  EXPECT_EQ(text.value("tamis_level_filter_false_positives_total", "level", "1"), 2);
  EXPECT_EQ(text.value("tamis_memory_bytes", "share", "filters"), 1234);
  EXPECT_EQ(text.value("tamis_background_error"), 0);
}

TEST(Prometheus, TellsCacheHitsByKind) {
  const Exposition text(to_prometheus(example()));
  EXPECT_EQ(text.value("tamis_cache_hits_total", "kind", "data"), 6);
  EXPECT_EQ(text.value("tamis_cache_hits_total", "kind", "index"), 4);
  EXPECT_EQ(text.value("tamis_cache_misses_total", "kind", "data"), 2);
  EXPECT_EQ(text.value("tamis_cache_misses_total", "kind", "index"), 5);
}

TEST(Prometheus, HistogramsAreCumulativeAndInSeconds) {
  const Exposition text(to_prometheus(example()));
  const std::string bucket = "tamis_get_duration_seconds_bucket";
  EXPECT_EQ(text.value(bucket, "le", "2.56e-07"), 3);
  EXPECT_EQ(text.value(bucket, "le", "2.048e-06"), 3);
  EXPECT_EQ(text.value(bucket, "le", "4.096e-06"), 5);
  EXPECT_EQ(text.value(bucket, "le", "+Inf"), 6);
  EXPECT_EQ(text.value("tamis_get_duration_seconds_count"), 6);
  EXPECT_EQ(text.value("tamis_get_duration_seconds_sum"), 3.0000015);
  EXPECT_EQ(text.value("tamis_compaction_duration_seconds_count"), 0);
}

TEST(Prometheus, NamesOfKeyspacesAreEscaped) {
  const Exposition text(to_prometheus({}, keyspaces()));
  EXPECT_EQ(text.value("tamis_keyspace_tables", "keyspace", "a\"b\\c\nd"), 2);
  EXPECT_EQ(text.value("tamis_keyspace_tables", "keyspace", "default"), 1);
  const Exposition of_bytes(to_prometheus({}, {{.name = "\xff\x01", .options = {}, .tables = 3}}));
  EXPECT_EQ(of_bytes.value("tamis_keyspace_tables", "keyspace", "0xff01"), 3);
  EXPECT_FALSE(Exposition(to_prometheus({})).types().contains("tamis_keyspace_tables"));
}

TEST(Prometheus, AnErrorIsOne) {
  const Exposition text(to_prometheus({.background_error = "the disk is full"}));
  EXPECT_EQ(text.value("tamis_background_error"), 1);
}

std::string contents(const std::string& name) {
  std::ifstream file(source_file(name));
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The names of metrics in a text, without the endings of a histogram's samples.
std::set<std::string> metrics_in(const std::string& text) {
  static const std::regex metric("tamis_[a-z_]+");
  std::set<std::string> names;
  for (std::sregex_iterator match(text.begin(), text.end(), metric), end; match != end; ++match) {
    names.insert(std::regex_replace(match->str(), std::regex("_seconds_(bucket|sum|count)$"), "_seconds"));
  }
  return names;
}

std::set<std::string> exported() {
  const Exposition text(to_prometheus(example(), keyspaces()));
  std::set<std::string> names;
  for (const auto& [name, type] : text.types()) names.insert(name);
  return names;
}

void collect_expressions(const Json& json, std::string& all) {
  if (json.is_object() && json.contains("expr")) all += json["expr"].get<std::string>() + "\n";
  if (json.is_structured()) {
    for (const Json& part : json) collect_expressions(part, all);
  }
}

TEST(Prometheus, TheDashboardAsksForMetricsThatAreExported) {
  std::string expressions;
  collect_expressions(Json::parse(contents("share/grafana/tamis.json")), expressions);
  const std::set<std::string> asked = metrics_in(expressions);
  const std::set<std::string> known = exported();
  for (const std::string& name : asked) EXPECT_TRUE(known.contains(name)) << name;
  for (const std::string& name : known) {
    if (name.ends_with("_seconds") || name.starts_with("tamis_cache_hits") || name.starts_with("tamis_level_tables")) {
      EXPECT_TRUE(asked.contains(name)) << name << " is in no panel";
    }
  }
  EXPECT_GE(asked.size(), 25U);
}

TEST(Prometheus, ThePageListsWhatIsExported) {
  std::string page = contents("docs/METRICS.md");
  const std::string begin = "<!-- metrics -->";
  const std::string end = "<!-- /metrics -->";
  ASSERT_NE(page.find(begin), std::string::npos);
  page = page.substr(page.find(begin), page.find(end) - page.find(begin));
  EXPECT_EQ(metrics_in(page), exported());
}

}  // namespace
}  // namespace tamis
