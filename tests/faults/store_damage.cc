#include "faults/store_damage.h"

#include <fmt/core.h>

#include <array>
#include <optional>

#include "base/check.h"
#include "base/random.h"
#include "crash/store_workload.h"

namespace tamis::test {
namespace {

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Empty if the status reports the damage as it should.
std::string check_told(const Status& status, const std::string& path) {
  if (status.code() != StatusCode::kCorruption && status.code() != StatusCode::kNotSupported) {
    return "reported as " + status.to_text();
  }
  if (status.message().find(name_of(path)) == std::string_view::npos) return "without the file: " + status.to_text();
  return {};
}

/// Compares an open store with its expected contents.
class DamagedReader {
 public:
  DamagedReader(const DB& db, const ClosedStore& store, const std::string& path)
      : db_(db), store_(store), path_(path) {}

  /// Empty, or the error.
  std::string read() {
    for (const std::string& key : store_.probed) {
      if (std::string wrong = get(key); !wrong.empty()) return wrong;
    }
    return scan();
  }
  [[nodiscard]] bool was_told() const { return was_told_; }

 private:
  std::string get(const std::string& key) {
    const Result<std::optional<std::string>> value = db_.get(key);
    if (!value.ok()) return told(value.status());
    const auto at = store_.content.find(key);
    const bool is_right = at == store_.content.end() ? !value->has_value() : *value == at->second;
    return is_right ? "" : fmt::format("get {}: {}", key, value->value_or("(absent)").substr(0, 30));
  }
  std::string scan() {
    auto expected = store_.content.begin();
    Iterator walk = db_.scan();
    for (; walk.valid(); walk.next(), ++expected) {
      if (expected == store_.content.end()) return fmt::format("a scan gives {} at its end", walk.key());
      if (walk.key() != expected->first || walk.value() != expected->second) {
        return fmt::format("a scan gives {} instead of {}", walk.key(), expected->first);
      }
    }
    if (!walk.status().ok()) return told(walk.status());
    return expected == store_.content.end() ? "" : "a scan ends before " + expected->first;
  }
  std::string told(const Status& status) {
    was_told_ = true;
    return check_told(status, path_);
  }

  const DB& db_;
  const ClosedStore& store_;
  const std::string& path_;
  bool was_told_ = false;
};

void write_store(DB& db, StoreLedger& ledger, SplitMix64& random) {
  const auto commit = [&](int puts, int removes) {
    Batch batch;
    for (int i = 0; i < puts; ++i) {
      const std::uint64_t number = random.below(160);
      batch.put(fmt::format("{}{:03}", number % 2 == 0 ? "user:" : "city:paris:", number),
                fmt::format("value {} of {}", ledger.commits(), number) + std::string(random.below(60), 'x'));
    }
    for (int i = 0; i < removes; ++i) batch.remove(fmt::format("user:{:03}", random.below(160)));
    ledger.tries(batch);
    TAMIS_CHECK(db.write(batch).ok());
    ledger.acknowledged(false);
  };
  for (int flush = 0; flush < 6; ++flush) {
    for (int i = 0; i < 6; ++i) commit(4, 1);
    TAMIS_CHECK(db.flush().ok());
  }
  for (int i = 0; i < 4; ++i) commit(2, 1);
}

}  // namespace

std::string kind_of(const std::string& path) {
  const std::string name = name_of(path);
  const std::size_t dot = name.find('.');
  return dot == std::string::npos ? name.substr(0, name.find('-')) : name.substr(dot);
}

std::vector<std::string> ClosedStore::files() const {
  std::vector<std::string> files;
  for (const auto& [path, id] : disk.names()) {
    if (id != MemoryDisk::FileId::kDirectory && name_of(path) != "LOCK") files.push_back(path);
  }
  return files;
}

const std::string& ClosedStore::bytes_of(const std::string& path) const {
  return disk.file(disk.names().at(path)).bytes();
}

ClosedStore make_closed_store(const Options& options, std::uint64_t seed) {
  CrashFileSystem files;
  StoreLedger ledger;
  SplitMix64 random(seed);
  {
    Result<DB> db = DB::open(std::string(kStore), options, environment_on(files, seed));
    TAMIS_CHECK(db.ok());
    write_store(*db, ledger, random);
    TAMIS_CHECK(db->close().ok());
  }
  ClosedStore store{files.disk(), options, ledger.current(), ledger.keys()};
  for (const char* absent : {"", "aaaa", "user:", "user:0005", "user:999", "zzzz"}) store.probed.emplace_back(absent);
  return store;
}

void read_damaged(const ClosedStore& store, const std::string& path, const std::string& what,
                  const std::function<void(CachedFile& file)>& damage, DamageCounts& counts) {
  MemoryDisk disk = store.disk;
  damage(disk.file(disk.names().at(path)));
  ++counts.tried;
  ++counts.tried_by_kind[kind_of(path)];
  const std::uint64_t before = disk.content_hash();
  CrashFileSystem files(std::move(disk));
  std::string wrong;
  {
    const Result<DB> db = DB::open(std::string(kStore), store.options, environment_on(files, 5));
    if (!db.ok()) {
      ++counts.refused;
      wrong = check_told(db.status(), path);
      if (files.disk().content_hash() != before) wrong = "opening failed and changed the disk";
    } else {
      DamagedReader reader(*db, store, path);
      wrong = reader.read();
      ++(reader.was_told() ? counts.told : counts.unnoticed);
      if (!reader.was_told()) ++counts.unnoticed_by_kind[kind_of(path)];
    }
  }
  if (!wrong.empty()) counts.violations.push_back(fmt::format("{} {}: {}", path, what, wrong));
}

void flip_bytes(const ClosedStore& store, std::uint64_t first, std::uint64_t stride, DamageCounts& counts) {
  static constexpr std::array<unsigned, 4> kMasks = {0xff, 0x01, 0x80, 0x10};
  for (const std::string& path : store.files()) {
    const std::string& bytes = store.bytes_of(path);
    for (std::uint64_t at = first; at < bytes.size(); at += stride) {
      const unsigned mask = kMasks[counts.tried % kMasks.size()];
      const std::string flipped(1, static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ mask));
      const Bytes piece = as_bytes(flipped);
      read_damaged(
          store, path, fmt::format("byte {} ^ {:#x}", at, mask),
          [&](CachedFile& file) { file.write(at, std::span(&piece, 1)); }, counts);
    }
  }
}

void cut_files(const ClosedStore& store, std::uint64_t stride, DamageCounts& counts) {
  for (const std::string& path : store.files()) {
    const std::uint64_t size = store.bytes_of(path).size();
    for (std::uint64_t cut = 1; cut <= size; cut += stride) {
      read_damaged(
          store, path, fmt::format("cut by {} of {} bytes", cut, size),
          [&](CachedFile& file) { file.resize(size - cut); }, counts);
    }
  }
}

}  // namespace tamis::test
