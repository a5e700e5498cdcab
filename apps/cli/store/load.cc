// tamis load: loads entries from a file.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/lines.h"
#include "cli/numbers.h"
#include "cli/store/common.h"
#include "cli/store/entry_text.h"
#include "cli/verbs.h"

namespace tamis::cli {
namespace {

constexpr std::uint64_t kDefaultBatch = 1000;
/// A batch also ends at this size, so that it fits in a memtable unless a single value is larger.
constexpr std::uint64_t kBatchBytes = std::uint64_t{4} << 20;

/// The running total, written after each batch, before anything else happens. Unbuffered, so that an acknowledged total
/// survives a kill of this process; with `sync`, also a crash of the machine.
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

/// The store to load into. An existing store is opened at once, so that no other process writes to it; a new one is
/// created on first use, so that a load that fails early leaves nothing behind.
class Target {
 public:
  explicit Target(const StoreArguments& store) : store_(store), db_(store.open_if_there()) {}

  DB& db() {
    if (!db_) db_ = store_.open(StoreUse::kCreate);
    return *db_;
  }
  /// Created on first use too.
  const Keyspace& keyspace(const std::string& name) {
    const auto found = keyspaces_.find(name);
    if (found != keyspaces_.end()) return found->second;
    return keyspaces_.emplace(name, need(db().keyspace(name))).first->second;
  }

 private:
  const StoreArguments& store_;
  std::optional<DB> db_;
  std::map<std::string, Keyspace> keyspaces_;  // By name.
};

/// Collects entries into batches and writes them.
class Loader {
 public:
  struct Limits {
    std::uint64_t batch_entries;
    std::uint64_t batch_bytes;
    bool sync;
    std::string keyspace;  ///< Of entries that name none.
  };

  Loader(Target& target, const Acknowledgements& acknowledgements, Limits limits)
      : target_(target), acknowledgements_(acknowledgements), limits_(std::move(limits)) {}

  void load(EntrySource& entries, show::Progress& progress) {
    while (const auto entry = entries.next()) {
      if (entry->key.size() > Batch::kMaxKeyBytes) {
        usage_error(fmt::format("{}: the key has {} bytes; the max is {}", entries.place(), entry->key.size(),
                                Batch::kMaxKeyBytes));
      }
      Batch& part = part_of(entry->keyspace.empty() ? limits_.keyspace : entry->keyspace);
      entry->expires_at ? part.put(entry->key, entry->value, *entry->expires_at) : part.put(entry->key, entry->value);
      if (!part.status().ok()) usage_error(fmt::format("{}: {}", entries.place(), part.status().message()));
      ++entries_in_batch_;
      bytes_in_batch_ += entry->key.size() + entry->value.size();
      if (entries_in_batch_ >= limits_.batch_entries || bytes_in_batch_ >= limits_.batch_bytes) write(progress);
    }
    write(progress);
  }

  [[nodiscard]] std::uint64_t entries() const { return entries_; }
  /// Of keys and values.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  /// Of the batch: what goes to one keyspace.
  Batch& part_of(std::string_view keyspace) {
    const auto found = parts_.find(keyspace);
    if (found != parts_.end()) return found->second;
    names_.emplace_back(keyspace);
    return parts_[names_.back()];
  }

  /// Its parts together. Keyspaces are opened only here, so that a load that fails early creates nothing.
  const Batch& batch() {
    if (names_.size() == 1 && names_[0] == "default") return parts_["default"];
    batch_.clear();
    for (const std::string& name : names_) {
      const Keyspace& into = target_.keyspace(name);
      for (const Batch::Operation& entry : parts_[name]) {
        entry.expires_at ? batch_.put(into, entry.key, entry.value, *entry.expires_at)
                         : batch_.put(into, entry.key, entry.value);
      }
    }
    return batch_;
  }

  /// Ctrl-C takes effect before a batch, or after the batch and its acknowledgement.
  void write(show::Progress& progress) {
    if (entries_in_batch_ == 0) return;
    const DelayInterrupt until_acknowledged;
    need(target_.db().write(batch(), {.sync = limits_.sync}));
    entries_ += entries_in_batch_;
    bytes_ += bytes_in_batch_;
    progress.count(entries_in_batch_, "entries");
    for (auto& [name, part] : parts_) part.clear();
    entries_in_batch_ = 0;
    bytes_in_batch_ = 0;
    acknowledgements_.write(entries_);
    if (DelayInterrupt::is_pending()) {
      report_error(fmt::format("interrupted; {} entries were loaded", with_thousands(entries_)));
    }
  }

  Target& target_;
  const Acknowledgements& acknowledgements_;
  Limits limits_;
  std::vector<std::string> names_;                   // Of keyspaces, in the order in which they are to be created.
  std::map<std::string, Batch, std::less<>> parts_;  // By keyspace.
  Batch batch_;                                      // Of several keyspaces, reused.
  std::uint64_t entries_in_batch_ = 0;
  std::uint64_t bytes_in_batch_ = 0;
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

/// On failure, reports how much was loaded.
void load_all(Loader& loader, EntrySource& entries, show::Progress& progress) {
  try {
    loader.load(entries, progress);
  } catch (const CommandError& error) {
    const std::string before = loader.entries() == 0 ? "nothing was loaded"
                               : loader.entries() == 1
                                   ? "only the first entry was loaded; reloading it is harmless"
                                   : fmt::format("only the first {} entries were loaded; reloading them is harmless",
                                                 with_thousands(loader.entries()));
    throw CommandError(error.exit_status(), fmt::format("{}; {}", error.what(), before));
  }
}

void report(const Loader& loader, double seconds, const CommonOptions& options) {
  const double per_second = seconds > 0 ? static_cast<double>(loader.entries()) / seconds : 0;
  if (options.json) {
    standard_output().write(JsonObject()
                                .add("entries", loader.entries())
                                .add("seconds", seconds)
                                .add("entries_per_second", per_second)
                                .add("bytes", loader.bytes())
                                .line());
  } else if (!options.quiet) {
    standard_output().print("{} {}, {} bytes ({}) in {:.3f} seconds: {} entries/s\n", with_thousands(loader.entries()),
                            loader.entries() == 1 ? "entry" : "entries", with_thousands(loader.bytes()),
                            human_bytes(loader.bytes()), seconds,
                            with_thousands(static_cast<std::uint64_t>(per_second)));
  }
}

/// The input options of the command line.
struct InputArguments {
  std::optional<std::string> path;
  FormatArguments formats;
  bool header = false;
  bool no_header = false;
  bool crlf = false;

  void declare(CommandLine& line) {
    line.optional_operand("FILE", "the entries; default or -: standard input", path);
    formats.declare(line);
    line.flag("--header", "CSV: skip the first record", header);
    line.flag("--no-header", "CSV: the first record is an entry, even if it is key,value", no_header);
    line.flag("--crlf", "TSV: lines end with CR LF; otherwise CR is part of the value", crlf);
  }

  /// With --json, input that begins with { is JSON lines, as 'dump --json' writes them.
  [[nodiscard]] EntryInput input(const CommandLine& line, Lines& lines) const {
    const std::optional<EntryFormat> named = formats.named(line);
    const bool is_json = !named && line.common().json && lines.begins_with('{');
    const EntryFormat format = named.value_or(is_json ? EntryFormat::kJsonLines : EntryFormat::kTsv);
    if (format != EntryFormat::kCsv) line.refuse({"--header", "--no-header"}, "is for CSV; add --csv");
    if (format != EntryFormat::kTsv) line.refuse({"--crlf"}, "is for TSV; CSV and JSON do not need it");
    if (header && no_header) usage_error("give only one of --header, --no-header");
    EntryInput input{.format = format, .is_hex = line.common().hex, .strips_return = crlf};
    if (header || no_header) input.has_header = header;
    input.longest_record = longest_record_of(format, input.is_hex);
    return input;
  }
};

}  // namespace

int run_load(Arguments arguments) {
  StoreArguments store;
  InputArguments input;
  std::string acknowledgements_path;
  std::optional<std::uint64_t> batch = kDefaultBatch;
  bool sync = false;
  CommandLine line({.summary =
                        "Loads entries: lines of KEY<TAB>VALUE, where the value is everything after the first tab; CSV "
                        "with two columns; or JSON lines as written by 'tamis dump --json'. With --json, input that "
                        "begins with { is read as JSON lines. Creates the store and keyspaces if missing, when the "
                        "first batch is ready. Each batch is atomic, over keyspaces too; batches are written in order.",
                    .usage = "DIR [FILE] [--keyspace NAME] [--format tsv|csv|jsonl] [--batch N] [--sync] [--ack FILE]",
                    .example = "  printf 'paris\\t2102650\\nlyon\\t522250\\n' | tamis load cities\n"
                               "  tamis load cities cities.txt --batch 10000 --sync\n"
                               "  tamis load cities cities.csv --csv --header\n"
                               "  tamis dump --json cities | tamis load --json copy",
                    .common = kJson | kHex | kQuiet | kNoProgress});
  store.declare_with_keyspace(line, "load into this keyspace; JSON lines may name another");
  input.declare(line);
  line.option("--batch", "N", "entries per batch; default: 1000, fewer if values are large", batch, parse_count);
  line.flag("--sync", "make each batch durable before writing the next", sync);
  line.option("--ack", "FILE", "write the total so far after each acknowledged batch", acknowledgements_path);
  if (!line.read(arguments)) return kExitOk;
  if (*batch == 0) usage_error("--batch: must be at least 1");

  const std::uint64_t memory_bytes = store.options(StoreUse::kCreate).memory_bytes;
  Lines lines(input.path.value_or("-"), "loading", line.common());
  const std::unique_ptr<EntrySource> entries = entries_in(lines, input.input(line, lines));
  const Acknowledgements acknowledgements(acknowledgements_path, sync);
  Target target(store);
  Loader loader(target, acknowledgements,
                {.batch_entries = *batch,
                 .batch_bytes = std::min(kBatchBytes, memory_bytes / 16),
                 .sync = sync,
                 .keyspace = store.keyspace_name});
  const auto begun = std::chrono::steady_clock::now();
  load_all(loader, *entries, lines.progress());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  need(target.db().close());
  report(loader, seconds, line.common());
  return kExitOk;
}

}  // namespace tamis::cli
