// Short records that are made durable one by one: what the file's state and the way of writing cost. On the file system
// of TMPDIR.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <vector>

#include "base/aligned_bytes.h"
#include "layout/entry.h"
#include "layout/samples.h"
#include "layout/temporary_file.h"

namespace tamis::layout {
namespace {

constexpr std::size_t kRecordBytes = 168;
constexpr std::size_t kBlockBytes = 4096;
constexpr std::size_t kFileBytes = std::size_t{4} << 20;
constexpr std::size_t kMostRecords = kFileBytes / kRecordBytes;

/// What the file is like before its first record.
enum class State { kEmpty, kReserved, kAllocated, kWritten };
enum class Way { kWriteAndSync, kDurableWrite, kStoreAndSync, kDirect };

struct Contestant {
  const char* name;
  State state;
  Way way;
};
constexpr Contestant kContestants[] = {
    {"a file that grows", State::kEmpty, Way::kWriteAndSync},
    {"space reserved, length as it grows", State::kReserved, Way::kWriteAndSync},
    {"allocated ahead", State::kAllocated, Way::kWriteAndSync},
    {"written before", State::kWritten, Way::kWriteAndSync},
    {"allocated ahead, RWF_DSYNC", State::kAllocated, Way::kDurableWrite},
    {"written before, RWF_DSYNC", State::kWritten, Way::kDurableWrite},
    {"allocated ahead, O_DIRECT blocks", State::kAllocated, Way::kDirect},
    {"written before, O_DIRECT blocks", State::kWritten, Way::kDirect},
    {"written before, mapped", State::kWritten, Way::kStoreAndSync},
};

bool make(int file, State state) {
  switch (state) {
    case State::kEmpty: return true;
    case State::kReserved: return ::fallocate(file, FALLOC_FL_KEEP_SIZE, 0, kFileBytes) == 0;
    case State::kAllocated: return ::fallocate(file, 0, 0, kFileBytes) == 0;
    case State::kWritten:
      const std::vector<char> earlier(kFileBytes, 'e');
      return ::pwrite(file, earlier.data(), kFileBytes, 0) == static_cast<ssize_t>(kFileBytes);
  }
  return false;
}

/// Adds records to one file, each durable before the next.
class Appender {
 public:
  explicit Appender(const Contestant& contestant) : way_(contestant.way) {
    is_ready_ = make(file_.descriptor(), contestant.state) && ::fsync(file_.descriptor()) == 0;
    if (way_ == Way::kDirect) is_ready_ = is_ready_ && ::fcntl(file_.descriptor(), F_SETFL, O_DIRECT) == 0;
    if (way_ != Way::kStoreAndSync) return;
    void* const memory = ::mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.descriptor(), 0);
    TAMIS_CHECK(memory != MAP_FAILED);
    mapped_ = static_cast<char*>(memory);
  }
  ~Appender() {
    if (mapped_ != nullptr) ::munmap(mapped_, kFileBytes);
  }
  Appender(const Appender&) = delete;
  Appender& operator=(const Appender&) = delete;

  /// Whether the file system can do this.
  [[nodiscard]] bool is_ready() const { return is_ready_; }

  void append(std::size_t record) {
    const std::size_t offset = record * kRecordBytes;
    char* const bytes = image() + offset;
    store_le(bytes, remix(record));
    switch (way_) {
      case Way::kWriteAndSync: write(bytes, kRecordBytes, offset, 0); break;
      case Way::kDurableWrite: return write(bytes, kRecordBytes, offset, RWF_DSYNC);
      case Way::kStoreAndSync: std::memcpy(mapped_ + offset, bytes, kRecordBytes); break;
      case Way::kDirect: {
        const std::size_t begin = offset / kBlockBytes * kBlockBytes;
        const std::size_t end = (offset + kRecordBytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
        return write(image() + begin, end - begin, begin, RWF_DSYNC);
      }
    }
    TAMIS_CHECK(::fdatasync(file_.descriptor()) == 0);
  }

 private:
  char* image() { return reinterpret_cast<char*>(image_.data()); }
  void write(char* bytes, std::size_t count, std::size_t offset, int flags) {
    const iovec piece{bytes, count};
    TAMIS_CHECK(::pwritev2(file_.descriptor(), &piece, 1, static_cast<off_t>(offset), flags) ==
                static_cast<ssize_t>(count));
  }

  Way way_;
  TemporaryFile file_;
  AlignedBytes image_ = AlignedBytes::zeroed(kFileBytes);  // What the file shall hold.
  bool is_ready_ = false;
  char* mapped_ = nullptr;
};

}  // namespace

Report bench_syncs(const Settings& settings) {
  Report report;
  Table table(
      fmt::format("Records of {} bytes, each synced; thousands a second, median [lowest-highest]", kRecordBytes));
  const std::size_t records = std::clamp<std::size_t>(settings.entries / 500, 10, kMostRecords);
  for (int round = 0; round < settings.rounds; ++round) {
    for (const Contestant& contestant : kContestants) {
      if (!settings.wants(contestant.name)) continue;
      Appender appender(contestant);
      if (!appender.is_ready()) continue;
      const auto begin = std::chrono::steady_clock::now();
      for (std::size_t i = 0; i < records; ++i) appender.append(i);
      const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
      table.add(contestant.name, "kops/s", static_cast<double>(records) / spent.count());
      report.checksum += remix(records - 1);
    }
  }
  table.print();
  report.tables.push_back(std::move(table));
  return report;
}

}  // namespace tamis::layout
