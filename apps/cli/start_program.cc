#include "cli/start_program.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "cli/error.h"

namespace tamis::cli {
namespace {

std::string path_of(const std::string& program) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return program;
  const std::filesystem::path beside = self.parent_path() / program;
  return std::filesystem::exists(beside, error) ? beside.string() : program;
}

}  // namespace

void become(const std::string& program, std::vector<std::string> words, std::string_view where_it_is) {
  words.insert(words.begin(), path_of(program));
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  if (errno != ENOENT) system_error(words[0], "cannot be started");
  throw CommandError(kExitInputOutput, fmt::format("{} is not installed: {}", program, where_it_is));
}

}  // namespace tamis::cli
