// tamis import: copies a store of another system into a new one.
#include "cli/store/import.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <future>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/interrupt.h"
#include "cli/numbers.h"
#include "cli/store/entry_digest.h"
#include "cli/verbs.h"
#include "show/progress.h"

namespace tamis::cli {
namespace {

constexpr std::uint64_t kBatchBytes = std::uint64_t{1} << 20;

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

std::string parent_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

/// Where the store is until it is complete.
std::string unfinished_name(const std::string& directory) { return directory + ".importing"; }

/// The rename of a complete store is durable when this returns.
void sync_folder(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) system_error(path, "cannot open");
  const bool is_synced = ::fsync(descriptor) == 0;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  if (!is_synced) system_error(path, "cannot sync");
}

/// Removes what an import has left. kBusy if another process is importing.
Status remove_unfinished(const std::string& directory) {
  const Status destroyed = DB::destroy(directory);
  if (destroyed.code() == StatusCode::kBusy) {
    return Status::busy(fmt::format("{}; another import seems to be running", destroyed.message()));
  }
  // Killed at its very beginning, an import has left a lock alone, or nothing that is a store's for certain.
  const std::filesystem::path path = directory;
  std::error_code error;
  std::filesystem::remove(path / "LOCK", error);
  std::filesystem::remove(path / "lost", error);
  if (std::filesystem::remove(path, error)) return {};
  return Status::io_error(fmt::format(
      "{}: this folder is in the way and holds something other than an unfinished import; move it away", directory));
}

void begin_anew(const std::string& directory) {
  std::error_code error;
  if (!std::filesystem::exists(directory, error)) return;
  need(remove_unfinished(directory));
  report_note(fmt::format("{}: removed what an unfinished import had left; beginning anew", directory));
}

/// Reads a source into batches, which another thread writes meanwhile.
class Importer {
 public:
  Importer(ImportSource& source, DB& db, show::Progress& progress) : source_(source), db_(db), progress_(progress) {}

  void copy(const std::string& name) {
    const Keyspace keyspace = need(db_.keyspace(name));
    digest_.add_name(name);
    while (source_.next()) {
      const std::string_view key = source_.key();
      const std::string_view value = source_.value();
      name == "default" ? batch_.put(key, value) : batch_.put(keyspace, key, value);
      digest_.add(key, value);
      bytes_in_batch_ += key.size() + value.size();
      if (bytes_in_batch_ >= kBatchBytes) write();
    }
    write();
    wait();
  }

  [[nodiscard]] const EntryDigest& digest() const { return digest_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  /// Begins to write the batch, after the one before is written.
  void write() {
    need(batch_.status());
    wait();
    writing_.swap(batch_);
    batch_.clear();
    bytes_ += std::exchange(bytes_in_batch_, 0);
    written_ = std::async(std::launch::async, [this] { return db_.write(writing_); });
    progress_.count(digest_.count() - counted_, "entries");
    counted_ = digest_.count();
    progress_.set(source_.bytes_read(), source_.bytes());
  }
  void wait() {
    if (written_.valid()) need(written_.get());
  }

  ImportSource& source_;
  DB& db_;
  show::Progress& progress_;
  Batch batch_;
  Batch writing_;                // Belongs to the thread while written_ is valid.
  std::future<Status> written_;  // Its destructor waits.
  EntryDigest digest_;
  std::uint64_t bytes_in_batch_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t counted_ = 0;
};

/// Of all entries of the store, keyspace by keyspace.
EntryDigest digest_of(DB& db, const std::vector<std::string>& keyspaces, std::uint64_t entries,
                      const CommonOptions& options) {
  show::Progress progress("verifying", entries, options.wants_progress());
  EntryDigest digest;
  for (const std::string& name : keyspaces) {
    const Keyspace keyspace = need(db.keyspace(name));
    digest.add_name(name);
    ScanOptions all;
    all.fills_cache = false;
    Iterator scan = keyspace.scan(all);
    for (const auto& [key, value] : scan) {
      digest.add(key, value);
      if (digest.count() % 1024 == 0) progress.advance(1024);
    }
    need(scan.status());
  }
  return digest;
}

void compare(const EntryDigest& read, const EntryDigest& stored, const std::string& folder,
             const std::string& directory) {
  if (read == stored) return;
  throw CommandError(kExitNo, fmt::format("{} has {} entries with checksum {}, {} has {} with {}: the import failed",
                                          folder, with_thousands(read.count()), read.text(), directory,
                                          with_thousands(stored.count()), stored.text()));
}

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

struct Outcome {
  EntryDigest digest;
  std::uint64_t bytes = 0;
  double copy_seconds = 0;
  double verify_seconds = 0;
};

void report(const Outcome& outcome, const ImportArguments& arguments, const CommonOptions& options) {
  const double seconds = outcome.copy_seconds + outcome.verify_seconds;
  if (options.json) {
    standard_output().write(JsonObject()
                                .add("entries", outcome.digest.count())
                                .add("bytes", outcome.bytes)
                                .add("checksum", outcome.digest.text())
                                .add("verified", true)
                                .add("seconds", seconds)
                                .add("verify_seconds", outcome.verify_seconds)
                                .line());
  } else if (!options.quiet) {
    standard_output().print("{} {}, {} bytes ({}) in {:.3f} seconds\n", with_thousands(outcome.digest.count()),
                            outcome.digest.count() == 1 ? "entry" : "entries", with_thousands(outcome.bytes),
                            human_bytes(outcome.bytes), seconds);
    standard_output().print("verified: {} and {} have the same count and the same checksum, {}\n", arguments.folder,
                            arguments.store.directory, outcome.digest.text());
  }
}

Outcome import_into(DB& db, ImportSource& source, const ImportArguments& arguments, const CommonOptions& options) {
  const auto begun = std::chrono::steady_clock::now();
  Outcome outcome;
  {
    show::Progress progress("importing", source.bytes(), options.wants_progress(), show::Progress::Unit::kBytes);
    Importer importer(source, db, progress);
    for (const std::string& name : source.keyspaces()) {
      source.begin(name);
      importer.copy(name);
    }
    source.finish();
    need(db.flush());
    outcome.digest = importer.digest();
    outcome.bytes = importer.bytes();
  }
  outcome.copy_seconds = seconds_since(begun);
  const EntryDigest stored = digest_of(db, source.keyspaces(), outcome.digest.count(), options);
  compare(outcome.digest, stored, arguments.folder, arguments.store.directory);
  need(db.close());
  outcome.verify_seconds = seconds_since(begun) - outcome.copy_seconds;
  return outcome;
}

}  // namespace

void ImportArguments::declare(CommandLine& line) {
  line.operand("FOLDER", "the folder to import; it is not changed", folder);
  store.declare(line);
}

void check_import_target(const std::string& directory) {
  if (directory.empty()) usage_error("DIR is empty; it names the store's folder");
  const std::string path = without_slashes(directory);
  struct stat target {};
  if (::stat(path.c_str(), &target) != 0) {
    if (errno != ENOENT) system_error(path, "cannot be looked at");
    return;
  }
  std::error_code error;
  const std::string name = std::filesystem::path(path).filename().string();
  if (name == "." || name == ".." || std::filesystem::is_symlink(path, error)) {
    usage_error(fmt::format("{}: the store gets its name last, and cannot get this one; name a new folder", path));
  }
  if (!S_ISDIR(target.st_mode) || !std::filesystem::is_empty(path, error) || error) {
    usage_error(fmt::format("{}: not an empty folder; name a new one", path));
  }
  struct stat parent {};
  if (::stat(parent_of(std::filesystem::absolute(path).string()).c_str(), &parent) == 0 &&
      parent.st_dev != target.st_dev) {
    usage_error(fmt::format("{0}: a file system is mounted here; name a new folder in it, such as {0}/store", path));
  }
}

void import_store(ImportSource& source, const ImportArguments& arguments, const CommonOptions& options) {
  const std::string directory = without_slashes(arguments.store.directory);
  StoreArguments unfinished = arguments.store;
  unfinished.directory = unfinished_name(directory);
  begin_anew(unfinished.directory);
  std::optional<DB> db = unfinished.open(StoreUse::kCreate);
  Outcome outcome;
  try {
    outcome = import_into(*db, source, arguments, options);
  } catch (const CommandError&) {
    db.reset();
    static_cast<void>(remove_unfinished(unfinished.directory));  // Otherwise the next import does.
    throw;
  }
  {
    const DelayInterrupt until_named;
    if (std::rename(unfinished.directory.c_str(), directory.c_str()) != 0) {
      system_error(directory, "cannot get its name");
    }
    sync_folder(parent_of(directory));
  }
  report(outcome, arguments, options);
}

}  // namespace tamis::cli
