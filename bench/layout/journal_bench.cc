// Journal records: what framing a put costs, and what handing it to the kernel costs alone or in groups.
#include <unistd.h>

#include <array>

#include "base/hash_inline.h"
#include "layout/entry.h"
#include "layout/samples.h"
#include "layout/temporary_file.h"

namespace tamis::layout {
namespace {

constexpr std::size_t kPayloadBytes = 136;  // A put of 16 + 100 bytes with its batch header.
constexpr std::uint64_t kSalt = 0x7461'6d69'7373'616cU;
constexpr std::size_t kFileBytes = std::size_t{64} << 20;

/// As long as the header of docs/decisions/0006-journal-record.md, which is what the store writes; one checksum where
/// that has two.
///
///     0  u64  XXH3 of everything behind it, seeded with the file's salt
///     8  u32  bytes of the payload
///    12  u32  entries
///    16  u64  first sequence
///    24  u64  offset known durable when the record was written
///    32       payload, zeros up to a multiple of eight
constexpr std::size_t kHeaderBytes = 32;

std::size_t record_bytes(std::size_t payload) { return (kHeaderBytes + payload + 7) / 8 * 8; }

/// Writes one record of `payload` at `to`; returns its bytes.
std::size_t write_record(char* to, std::string_view payload, std::uint32_t entries, std::uint64_t sequence) {
  const std::size_t bytes = record_bytes(payload.size());
  store_le(to + 8, static_cast<std::uint32_t>(payload.size()));
  store_le(to + 12, entries);
  store_le(to + 16, sequence);
  store_le(to + 24, std::uint64_t{0});
  std::memcpy(to + kHeaderBytes, payload.data(), payload.size());
  std::memset(to + kHeaderBytes + payload.size(), 0, bytes - kHeaderBytes - payload.size());
  store_le(to, XXH3_64bits_withSeed(to + 8, bytes - 8, kSalt));
  return bytes;
}

bool is_whole(const char* record) {
  const std::size_t bytes = record_bytes(load_le<std::uint32_t>(record + 8));
  return load_le<std::uint64_t>(record) == XXH3_64bits_withSeed(record + 8, bytes - 8, kSalt);
}

/// One way to write `puts` payloads: `group` of them to a record and to a system call. A group of 0 makes no call.
class Writer {
 public:
  Writer(std::size_t group, bool one_record) : group_(group), one_record_(one_record) {}

  [[nodiscard]] std::string name() const {
    if (group_ == 0) return "framing alone";
    return fmt::format("groups of {}{}", group_, group_ == 1 ? "" : one_record_ ? ", one record" : ", a record each");
  }

  double run(std::size_t puts, std::uint64_t& checksum) {
    const std::size_t calls_of = std::max<std::size_t>(group_, 1);
    std::size_t offset = 0;
    const double spent = nanoseconds([&] {
      for (std::size_t put = 0; put < puts; put += calls_of) {
        const std::size_t bytes = assemble(put, calls_of);
        if (group_ == 0) continue;
        if (offset + bytes > kFileBytes) offset = 0;
        TAMIS_CHECK(::pwrite(file_.descriptor(), buffer_.data(), bytes, static_cast<off_t>(offset)) ==
                    static_cast<ssize_t>(bytes));
        offset += bytes;
      }
    });
    TAMIS_CHECK(is_whole(buffer_.data()));
    checksum += load_le<std::uint64_t>(buffer_.data());
    return spent / static_cast<double>(puts);
  }

 private:
  std::size_t assemble(std::size_t put, std::size_t count) {
    store_le(payload_.data(), remix(put));
    const std::string_view payload(payload_.data(), payload_.size());
    std::size_t bytes = 0;
    if (one_record_ && count > 1) {
      // The batches of a group lie behind each other in the leader's buffer; here they are copied there first.
      for (std::size_t i = 0; i < count; ++i)
        std::memcpy(batches_.data() + i * kPayloadBytes, payload.data(), kPayloadBytes);
      const std::string_view all(batches_.data(), count * kPayloadBytes);
      return write_record(buffer_.data(), all, static_cast<std::uint32_t>(count), put);
    }
    for (std::size_t i = 0; i < count; ++i) bytes += write_record(buffer_.data() + bytes, payload, 1, put + i);
    return bytes;
  }

  std::size_t group_;
  bool one_record_;
  TemporaryFile file_;
  std::array<char, kPayloadBytes> payload_ = {};
  std::array<char, 100 * kPayloadBytes> batches_ = {};
  std::array<char, 200 * kPayloadBytes> buffer_ = {};
};

}  // namespace

Report bench_journal(const Settings& settings) {
  Report report;
  Table table(fmt::format("Journal, payloads of {} bytes; ns per put, median [lowest-highest]", kPayloadBytes));
  Writer writers[] = {{0, false}, {1, false}, {10, false}, {10, true}, {100, false}, {100, true}};
  const std::size_t puts = std::max<std::size_t>(settings.entries / 25, 100) / 100 * 100;
  for (int round = 0; round < settings.rounds; ++round) {
    for (Writer& writer : writers) {
      if (settings.wants(writer.name())) table.add(writer.name(), "ns per put", writer.run(puts, report.checksum));
    }
  }
  table.print();
  report.tables.push_back(std::move(table));
  return report;
}

}  // namespace tamis::layout
