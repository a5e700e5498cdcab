// One call of a command: its arguments, its key, and what several commands reply. Texts of errors are RedisBloom's,
// because clients compare them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "module_api.h"
#include "value.h"

namespace tamis_redis {

inline constexpr const char* kNotFound = "ERR not found";
inline constexpr const char* kExists = "ERR item exists";
inline constexpr const char* kWrongType = "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr const char* kChunksMissing = "ERR the filter is incomplete: send its remaining chunks with LOADCHUNK";
inline constexpr const char* kUnknownArgument = "Unknown argument received";

enum class Presence : std::uint8_t { kAbsent, kPresent, kIncomplete, kOtherType };

/// The arguments of a command, its own name first, and the replies to it. The server closes its key after it.
///
/// Threads: as the server, one at a time.
class Call {
 public:
  Call(Context* context, String** arguments, int count, Sort sort);

  [[nodiscard]] std::size_t size() const { return arguments_.size(); }
  [[nodiscard]] std::string_view text(std::size_t i) const;
  [[nodiscard]] std::optional<long long> number(std::size_t i) const;
  [[nodiscard]] std::optional<double> real(std::size_t i) const;
  /// Whether argument i is this word, in any case.
  [[nodiscard]] bool is(std::size_t i, std::string_view word) const;

  /// Opens the key, which is the first argument. Only a write opens one that is not there.
  void open(int mode);
  [[nodiscard]] Presence presence() const { return presence_; }
  /// The value of a key that is present or incomplete.
  [[nodiscard]] Value& value() const { return *value_; }
  /// Gives the key, which has none, a value.
  void set(std::unique_ptr<Value> value);
  /// Replies why there is no value to work with; false if there is one.
  bool refuse_absent(const char* absent = kNotFound);

  int wrong_arity() { return redis.WrongArity(context_); }
  int error(const char* text) { return redis.ReplyWithError(context_, text); }
  int error(const std::string& text) { return error(text.c_str()); }
  int ok() { return redis.ReplyWithSimpleString(context_, "OK"); }
  int reply(long long number) { return redis.ReplyWithLongLong(context_, number); }
  int reply_bool(bool yes) { return redis.ReplyWithBool(context_, yes ? 1 : 0); }  // 1 or 0 to clients of RESP2.
  [[nodiscard]] bool speaks_resp3() const;

  [[nodiscard]] Context* context() const { return context_; }
  [[nodiscard]] String* key_name() const { return arguments_[1]; }

  /// SCANDUMP and LOADCHUNK, without their checks of arguments. The server's log says why a chunk is bad.
  int scan_dump(std::uint64_t iterator);
  int load_chunk(std::uint64_t iterator, std::string_view chunk, const char* bad);

 private:
  Context* context_;
  std::span<String*> arguments_;
  Sort sort_;
  Key* key_ = nullptr;
  Presence presence_ = Presence::kAbsent;
  Value* value_ = nullptr;
};

/// One field of INFO.
struct InfoField {
  const char* name;
  std::optional<long long> value;  // Null to clients if there is none.
};

/// A map, or in RESP2 names and values.
int reply_info(Call& call, std::span<const InfoField> fields);

/// One of its fields: a map, or in RESP2 an array of the value alone.
int reply_field(Call& call, const InfoField& field);

}  // namespace tamis_redis
