// The filters that filter_bench compares, behind one interface.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tamis::bench {

/// Key i of a set: its 64-bit hash, or 16 bytes of text.
std::uint64_t member_hash(std::uint64_t i);
std::uint64_t stranger_hash(std::uint64_t i);
/// A hash as sixteen hexadecimal digits, so that strings are as distinct as hashes.
void write_key(std::uint64_t hash, char* out);
inline constexpr std::size_t kKeyBytes = 16;

/// What a filter is built from and asked for: hashes, or texts.
using Keys = std::variant<std::span<const std::uint64_t>, std::span<const std::string_view>>;

/// A filter under test. `count_*` return how many of the keys may be present, which is also the checksum of the work.
class Contestant {
 public:
  explicit Contestant(std::string name) : name_(std::move(name)) {}
  virtual ~Contestant() = default;
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

  [[nodiscard]] virtual bool takes(bool /*texts*/) const { return true; }
  virtual void build(const Keys& keys) = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  [[nodiscard]] virtual std::uint64_t count_single(const Keys& keys) const = 0;
  [[nodiscard]] virtual std::uint64_t count_many(const Keys& keys) const = 0;

 private:
  std::string name_;
};

/// The memory floor: one word of one random cache line out of `bits_per_key` bits per key.
std::unique_ptr<Contestant> make_floor(double bits_per_key);
/// One of tamis's kinds; `measure` is "rate" or "bits".
std::unique_ptr<Contestant> make_tamis(const std::string& kind, const std::string& measure, double value);
#ifdef TAMIS_HAS_ROCKSDB
/// Debian's RocksDB through its FilterPolicy; `policy` is "bloom" or "ribbon". Strings only: it hashes internally.
std::unique_ptr<Contestant> make_rocksdb(const std::string& policy, double bits_per_key);
std::string rocksdb_version();
#endif

}  // namespace tamis::bench
