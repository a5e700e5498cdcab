// Fresh processes: what it costs to start one, and whether all that are started scan equally fast.
#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <sstream>
#include <vector>

#include "store/parts.h"
#include "store/process_facts.h"

namespace tamis::bench {
namespace {

constexpr int kGetStarts = 5;   // In each round; their median counts.
constexpr int kScanStarts = 3;  // In each round; every one counts.

/// What a process printed, and the CPU time it took.
struct Finished {
  std::string output;
  double cpu_milliseconds = 0;
};

double milliseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
}

/// Stops the program unless the status is 0.
Finished run_process(std::vector<std::string> words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) stop("cannot open a pipe");
  posix_spawn_file_actions_t actions = {};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error != 0) stop(fmt::format("{}: cannot be started", words[0]));
  Finished finished;
  std::array<char, 4096> buffer = {};
  for (ssize_t bytes = 0; (bytes = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
    finished.output.append(buffer.data(), static_cast<std::size_t>(bytes));
  }
  ::close(ends[0]);
  int status = 0;
  rusage usage = {};
  if (::wait4(child, &status, 0, &usage) != child || status != 0) stop(fmt::format("{}: failed", words[0]));
  finished.cpu_milliseconds = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
  return finished;
}

/// A program that was built with this one; empty if it was not.
std::string beside_this_program(const std::string& name) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / name;
  return std::filesystem::exists(path, error) ? path.string() : std::string();
}

class Starts {
 public:
  Starts(Field& field, const Stock& stock) : field_(field), stock_(stock), key_(hex(stock.data.key(0).view())) {}

  void run(Contestant& contestant, std::uint64_t round) {
    const std::string program = beside_this_program("start-" + contestant.id());
    if (program.empty()) return;
    const std::vector<std::string> words = {program, field_.folder(contestant), fmt::format("{}", stock_.count)};
    if (field_.wants({"start", "start_command"})) get(contestant, words);
    if (field_.wants({"program"}) && round == 0) weigh(contestant, program);
    if (field_.wants({"scan_starts", "scan_starts_spread"})) scan(contestant, words);
  }

  void compare_scans() {
    for (const auto& contestant : field_.contestants()) {
      const Samples* rates = field_.report().samples("scan_starts", contestant->id());
      if (rates != nullptr) field_.report().add("scan_starts_spread", contestant->id(), rates->high() / rates->low());
    }
  }

 private:
  static std::string hex(std::string_view bytes) {
    std::string digits;
    for (const char byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return digits;
  }

  void get(Contestant& contestant, std::vector<std::string> words) {
    words.push_back(key_);
    const std::string expected = fmt::format("{}\n", fold(stock_.data.value(0)));
    add_median("start", contestant, [&] {
      const Finished finished = run_process(words);
      if (finished.output != expected) stop("start: another value than was put");
      return finished.cpu_milliseconds;
    });
    const std::string command = contestant.id() == "tamis" ? beside_this_program("tamis") : std::string();
    if (command.empty()) return;
    const std::string shown = hex(stock_.data.value(0)) + "\n";
    add_median("start_command", contestant, [&] {
      const Finished finished = run_process({command, "get", words[1], key_, "--hex"});
      if (finished.output != shown) stop("start_command: another value than was put");
      return finished.cpu_milliseconds;
    });
  }

  template <typename Start>
  void add_median(const char* row, Contestant& contestant, const Start& start) {
    Samples times;
    for (int i = 0; i < kGetStarts; ++i) times.values.push_back(start());
    field_.report().add(row, contestant.id(), times.median());
  }

  /// With the store's library, if it is a file of its own.
  void weigh(Contestant& contestant, const std::string& program) {
    const std::uint64_t bytes =
        std::filesystem::file_size(program) + mapped_file_bytes(fmt::format("/lib{}.so", contestant.id()));
    field_.report().add("program", contestant.id(), static_cast<double>(bytes) / 1e3);
  }

  void scan(Contestant& contestant, const std::vector<std::string>& words) {
    for (int i = 0; i < kScanStarts; ++i) {
      std::istringstream printed(run_process(words).output);
      double rate = 0;
      std::uint64_t sum = 0;
      if (!(printed >> rate >> sum)) stop("scan_starts: no rate");
      field_.add("scan_starts", contestant, rate, 0, sum);  // The same sum in every round.
    }
  }

  Field& field_;
  const Stock& stock_;
  const std::string key_;
};

}  // namespace

void measure_starts(Field& field, const Stock& stock) {
  if (!field.wants_groups({"starts"})) return;
  Starts starts(field, stock);
  field.part("starts", [&] {
    field.alternate([&](Contestant& contestant, std::uint64_t round) { starts.run(contestant, round); });
    starts.compare_scans();
  });
}

}  // namespace tamis::bench
