#include "types.h"

#include <memory>
#include <string>

#include "dump_format.h"
#include "filters.h"

namespace tamis_redis {
namespace {

constexpr int kRdbVersion = 1;

Type* bloom_type = nullptr;
Type* cuckoo_type = nullptr;

Value& value_at(void* value) { return *static_cast<Value*>(value); }

/// Calls use(bytes, position behind them) for each piece behind the head.
template <typename Use>
void each_piece(Value& value, Use use) {
  std::uint64_t position = 0;
  for (std::string_view piece; !(piece = body_at(value, position)).empty();) {
    position += piece.size();
    use(piece, position);
  }
}

/// In an RDB file and in DUMP: the head, the number of bytes behind it, and these in pieces.
void save(Io* io, void* object) noexcept {
  Value& value = value_at(object);
  const std::string head = encode_head(value);
  redis.SaveStringBuffer(io, head.data(), head.size());
  redis.SaveUnsigned(io, body_bytes(value));
  each_piece(value,
             [&](std::string_view piece, std::uint64_t) { redis.SaveStringBuffer(io, piece.data(), piece.size()); });
}

/// A string of an RDB file; empty after an error.
std::string load_string(Io* io) {
  std::size_t count = 0;
  const std::unique_ptr<char, decltype(redis.Free)> bytes(redis.LoadStringBuffer(io, &count), redis.Free);
  return bytes == nullptr || redis.IsIOError(io) != 0 ? std::string() : std::string(bytes.get(), count);
}

std::unique_ptr<Value> load_value(Io* io, Sort sort, Refusal& refusal) {
  refusal.reason = "it ends too early";
  const std::string head = load_string(io);
  if (head.empty()) return nullptr;
  const std::uint64_t body = redis.LoadUnsigned(io);
  if (redis.IsIOError(io) != 0) return nullptr;
  std::unique_ptr<Value> value = decode_head(head, sort, refusal);
  if (value == nullptr) return nullptr;
  for (std::uint64_t loaded = 0; loaded < body;) {
    refusal.reason = "it ends too early";
    const std::string piece = load_string(io);
    if (piece.empty() || !append_body(*value, piece, refusal)) return nullptr;
    loaded += piece.size();
  }
  return value;
}

template <Sort sort>
void* load(Io* io, int version) noexcept {
  Refusal refusal = {.reason = "version " + std::to_string(version) + " of the type is not supported"};
  std::unique_ptr<Value> value = version == kRdbVersion ? load_value(io, sort, refusal) : nullptr;
  if (value == nullptr) redis.LogIOError(io, "warning", "cannot load a filter: %s", refusal.reason.c_str());
  return value.release();
}

template <Sort sort>
void rewrite(Io* io, String* key, void* object) noexcept {
  constexpr const char* kCommand = sort == Sort::kBloom ? "BF.LOADCHUNK" : "CF.LOADCHUNK";
  Value& value = value_at(object);
  const std::string head = encode_head(value);
  redis.EmitAOF(io, kCommand, "slb", key, 1LL, head.data(), head.size());
  each_piece(value, [&](std::string_view piece, std::uint64_t behind) {
    redis.EmitAOF(io, kCommand, "slb", key, static_cast<long long>(behind) + 1, piece.data(), piece.size());
  });
}

std::size_t mem_usage(const void* object) noexcept { return memory_of(value_at(const_cast<void*>(object))); }

void digest(Digest* digest, void* object) noexcept {
  Value& value = value_at(object);
  const std::string head = encode_head(value);
  redis.DigestAddStringBuffer(digest, head.data(), head.size());
  each_piece(value, [&](std::string_view piece, std::uint64_t) {
    redis.DigestAddStringBuffer(digest, piece.data(), piece.size());
  });
  redis.DigestEndSequence(digest);
}

void free_value(void* object) noexcept { delete static_cast<Value*>(object); }

/// The server frees what has many parts in another thread.
std::size_t free_effort(String* /*key*/, const void* object) noexcept {
  return static_cast<const Value*>(object)->filters.size();
}

void* copy(String* /*from*/, String* /*to*/, const void* object) noexcept {
  Value& from = value_at(const_cast<void*>(object));
  Refusal refusal;
  std::unique_ptr<Value> to = decode_head(encode_head(from), from.sort, refusal);
  if (to == nullptr) return nullptr;
  bool is_whole = true;
  each_piece(from,
             [&](std::string_view piece, std::uint64_t) { is_whole = is_whole && append_body(*to, piece, refusal); });
  return is_whole ? to.release() : nullptr;
}

template <Sort sort>
Type* create_type(Context* context, const char* name) {
  TypeMethods methods = {.rdb_load = load<sort>,
                         .rdb_save = save,
                         .aof_rewrite = rewrite<sort>,
                         .mem_usage = mem_usage,
                         .digest = digest,
                         .free = free_value,
                         .free_effort = free_effort,
                         .copy = copy};
  return redis.CreateDataType(context, name, kRdbVersion, &methods);
}

}  // namespace

bool create_types(Context* context) {
  bloom_type = create_type<Sort::kBloom>(context, "tamis--BF");
  cuckoo_type = create_type<Sort::kCuckoo>(context, "tamis--CF");
  return bloom_type != nullptr && cuckoo_type != nullptr;
}

Type* type_of(Sort sort) { return sort == Sort::kBloom ? bloom_type : cuckoo_type; }

}  // namespace tamis_redis
