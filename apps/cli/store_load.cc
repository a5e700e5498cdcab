// tamis load: many entries from lines.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "command_line.h"
#include "entry_lines.h"
#include "error.h"
#include "files.h"
#include "interrupt.h"
#include "json.h"
#include "numbers.h"
#include "output.h"
#include "store_common.h"
#include "tamis/db.h"
#include "verbs.h"

namespace tamis::cli {
namespace {

constexpr std::uint64_t kDefaultBatch = 1000;
/// A batch also ends here, so that large values do not make one that the store has no memory for.
constexpr std::uint64_t kBatchBytes = std::uint64_t{4} << 20;

/// Where a running total is written after each batch, before anything else happens. Nothing is buffered here, so that
/// what it says was acknowledged stays said when this process is killed; with `sync`, when the machine is.
class Acknowledgements {
 public:
  Acknowledgements(const std::string& path, bool sync) : path_(path) {
    if (path.empty()) return;
    if (path == "-") {
      descriptor_ = STDOUT_FILENO;
      return;
    }
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | (sync ? O_DSYNC : 0), 0666);
    if (descriptor_ < 0) system_error(path, "cannot create");
  }
  ~Acknowledgements() {
    if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
  }
  Acknowledgements(const Acknowledgements&) = delete;
  Acknowledgements& operator=(const Acknowledgements&) = delete;

  void write(std::uint64_t total) const {
    if (descriptor_ >= 0) write_all(descriptor_, path_, fmt::format("{}\n", total));
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// Collects entries into batches and writes them.
class Loader {
 public:
  struct Limits {
    std::uint64_t batch_entries;
    std::uint64_t batch_bytes;
    bool sync;
  };

  Loader(DB& db, const Acknowledgements& acknowledgements, Limits limits)
      : db_(db), acknowledgements_(acknowledgements), limits_(limits) {}

  void load(EntryLines& lines) {
    while (const auto entry = lines.next()) {
      if (entry->key.size() > Batch::kMaxKeyBytes) {
        usage_error(fmt::format("{}: a key of {} bytes, at most {} are allowed", lines.place(), entry->key.size(),
                                Batch::kMaxKeyBytes));
      }
      batch_.put(entry->key, entry->value);
      if (!batch_.status().ok()) usage_error(fmt::format("{}: {}", lines.place(), batch_.status().message()));
      bytes_in_batch_ += entry->key.size() + entry->value.size();
      if (batch_.size() >= limits_.batch_entries || bytes_in_batch_ >= limits_.batch_bytes) write(lines.progress());
    }
    write(lines.progress());
  }

  [[nodiscard]] std::uint64_t entries() const { return entries_; }
  /// Of keys and values.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  /// Ctrl-C comes before a batch or after it, and then after its acknowledgement too.
  void write(show::Progress& progress) {
    if (batch_.empty()) return;
    const DelayInterrupt until_acknowledged;
    need(db_.write(batch_, {.sync = limits_.sync}));
    entries_ += batch_.size();
    bytes_ += bytes_in_batch_;
    progress.count(batch_.size(), "entries");
    batch_.clear();
    bytes_in_batch_ = 0;
    acknowledgements_.write(entries_);
    if (DelayInterrupt::is_pending()) {
      report_error(fmt::format("interrupted; {} entries were loaded", with_thousands(entries_)));
    }
  }

  DB& db_;
  const Acknowledgements& acknowledgements_;
  Limits limits_;
  Batch batch_;
  std::uint64_t bytes_in_batch_ = 0;
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

/// A failure in the middle says how much came before it.
void load_all(Loader& loader, EntryLines& lines) {
  try {
    loader.load(lines);
  } catch (const CommandError& error) {
    const std::string before =
        loader.entries() == 0   ? "nothing was loaded"
        : loader.entries() == 1 ? "only the first entry was loaded; loading it again does no harm"
                                : fmt::format("only the first {} entries were loaded; loading them again does no harm",
                                              with_thousands(loader.entries()));
    throw CommandError(error.exit_status(), fmt::format("{}; {}", error.what(), before));
  }
}

void report(const Loader& loader, double seconds, const CommonOptions& options) {
  const double per_second = seconds > 0 ? static_cast<double>(loader.entries()) / seconds : 0;
  if (options.json) {
    standard_output().print("{}\n", JsonObject()
                                        .add("entries", loader.entries())
                                        .add("seconds", seconds)
                                        .add("entries_per_second", per_second)
                                        .add("bytes", loader.bytes())
                                        .text());
  } else if (!options.quiet) {
    standard_output().print("{} {}, {} bytes ({}) in {:.3f} seconds: {} entries/s\n", with_thousands(loader.entries()),
                            loader.entries() == 1 ? "entry" : "entries", with_thousands(loader.bytes()),
                            human_bytes(loader.bytes()), seconds,
                            with_thousands(static_cast<std::uint64_t>(per_second)));
  }
}

}  // namespace

int run_load(Arguments arguments) {
  StoreArguments store;
  std::string path = "-";
  std::string acknowledgements_path;
  std::optional<std::uint64_t> batch = kDefaultBatch;
  bool sync = false;
  CommandLine line({.name = "load",
                    .summary = "Loads lines of KEY<TAB>VALUE; the value is all after the first tab. Makes the store if "
                               "there is none. Batches are written whole or not at all, one after the other.",
                    .usage = "DIR [FILE] [--batch N] [--sync] [--ack FILE]",
                    .example = "  printf 'paris\\t2102650\\nlyon\\t522250\\n' | tamis load cities\n"
                               "  tamis load cities cities.txt --batch 10000 --sync"});
  store.declare(line);
  line.optional_operand("FILE", "the lines; - or none for standard input", path);
  line.option("--batch", "N", "entries per batch, 1000 unless told; fewer where values are large", batch, parse_count);
  line.flag("--sync", "each batch survives a crash of the machine before the next begins", sync);
  line.option("--ack", "FILE", "after each batch that was acknowledged, a line with the total so far",
              acknowledgements_path);
  if (!line.read(arguments)) return kExitOk;
  if (*batch == 0) usage_error("--batch: a batch has at least one entry");

  const std::uint64_t batch_bytes = std::min(kBatchBytes, store.options(StoreUse::kCreate).memory_bytes / 16);
  EntryLines lines(path, line.common());
  const Acknowledgements acknowledgements(acknowledgements_path, sync);
  DB db = store.open(StoreUse::kCreate);
  Loader loader(db, acknowledgements, {.batch_entries = *batch, .batch_bytes = batch_bytes, .sync = sync});
  const auto begun = std::chrono::steady_clock::now();
  load_all(loader, lines);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  need(db.close());
  report(loader, seconds, line.common());
  return kExitOk;
}

}  // namespace tamis::cli
