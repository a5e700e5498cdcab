// Checks histories of transactions: the dependency graph of Adya's definitions, and its cycles.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tamis::test {

/// Who wrote the versions of each key, in order, and who read which. A scan is a read of every key that it passed:
/// keys that it did not find were read as absent.
///
/// Threads: one at a time.
class TransactionHistory {
 public:
  using Transaction = std::uint32_t;

  /// The next version of the key. Deletes are versions.
  void add_write(const std::string& key, Transaction writer) { versions_[key].push_back(writer); }
  /// `version`: the number of versions that precede the state that was read, so that 0 is "before every write".
  void add_read(const std::string& key, std::size_t version, Transaction reader) {
    reads_[key].push_back({version, reader});
  }

  enum class Kind : std::uint8_t {
    kWriteWrite,  ///< It overwrites the other's version.
    kWriteRead,   ///< It reads the other's version.
    kReadWrite,   ///< It overwrites what the other has read.
  };
  /// A cycle as text, "1 -rw x-> 2 -ww y-> 1"; empty if there is none. A history without one is serializable.
  [[nodiscard]] std::string find_cycle() const {
    const Graph graph = dependencies();
    std::map<Transaction, Mark> marks;
    for (const auto& [start, edges] : graph) {
      if (std::string cycle = search(graph, start, marks); !cycle.empty()) return cycle;
    }
    return {};
  }

 private:
  struct Read {
    std::size_t version = 0;
    Transaction reader = 0;
  };
  struct Edge {
    Transaction to = 0;
    Kind kind = {};
    const std::string* key = nullptr;
  };
  using Graph = std::map<Transaction, std::vector<Edge>>;
  enum class Mark : std::uint8_t { kNew, kOpen, kDone };
  struct Step {
    Transaction at = 0;
    std::size_t next = 0;
  };

  [[nodiscard]] Graph dependencies() const {
    Graph graph;
    const auto add = [&](Transaction from, Transaction to, Kind kind, const std::string& key) {
      if (from != to) graph[from].push_back({to, kind, &key});
    };
    for (const auto& [key, writers] : versions_) {
      for (std::size_t i = 1; i < writers.size(); ++i) add(writers[i - 1], writers[i], Kind::kWriteWrite, key);
    }
    for (const auto& [key, reads] : reads_) {
      const auto written = versions_.find(key);
      if (written == versions_.end()) continue;
      const std::vector<Transaction>& writers = written->second;
      for (const Read& read : reads) {
        if (read.version > 0) add(writers[read.version - 1], read.reader, Kind::kWriteRead, key);
        if (read.version < writers.size()) add(read.reader, writers[read.version], Kind::kReadWrite, key);
      }
    }
    return graph;
  }

  /// Depth first, without recursion: cycles can be long.
  static std::string search(const Graph& graph, Transaction start, std::map<Transaction, Mark>& marks) {
    if (marks[start] != Mark::kNew) return {};
    std::vector<Step> path = {{start, 0}};
    marks[start] = Mark::kOpen;
    while (!path.empty()) {
      const auto edges = graph.find(path.back().at);
      if (edges == graph.end() || path.back().next == edges->second.size()) {
        marks[path.back().at] = Mark::kDone;
        path.pop_back();
        continue;
      }
      const Edge& edge = edges->second[path.back().next++];
      Mark& mark = marks[edge.to];
      if (mark == Mark::kOpen) return text_of(graph, path, edge.to);
      if (mark == Mark::kDone) continue;
      mark = Mark::kOpen;
      path.push_back({edge.to, 0});
    }
    return {};
  }

  static std::string text_of(const Graph& graph, const std::vector<Step>& path, Transaction first) {
    constexpr const char* kNames[] = {"ww", "wr", "rw"};
    const auto begin = std::ranges::find(path, first, &Step::at);
    std::string text;
    for (auto step = begin; step != path.end(); ++step) {
      const Edge& edge = graph.at(step->at)[step->next - 1];
      text += fmt::format("{} -{} {}-> ", step->at, kNames[static_cast<std::size_t>(edge.kind)], *edge.key);
    }
    return text + fmt::format("{}", first);
  }

  std::map<std::string, std::vector<Transaction>> versions_;
  std::map<std::string, std::vector<Read>> reads_;
};

}  // namespace tamis::test
