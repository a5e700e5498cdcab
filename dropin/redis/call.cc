#include "call.h"

#include <strings.h>

#include <utility>

#include "dump_format.h"
#include "types.h"

namespace tamis_redis {

Call::Call(Context* context, String** arguments, int count, Sort sort)
    : context_(context), arguments_(arguments, static_cast<std::size_t>(count)), sort_(sort) {
  redis.AutoMemory(context);
}

std::string_view Call::text(std::size_t i) const {
  std::size_t count = 0;
  const char* const bytes = redis.StringPtrLen(arguments_[i], &count);
  return {bytes, count};
}

std::optional<long long> Call::number(std::size_t i) const {
  long long number = 0;
  return redis.StringToLongLong(arguments_[i], &number) == kOk ? std::optional(number) : std::nullopt;
}

std::optional<double> Call::real(std::size_t i) const {
  double number = 0;
  return redis.StringToDouble(arguments_[i], &number) == kOk ? std::optional(number) : std::nullopt;
}

bool Call::is(std::size_t i, std::string_view word) const {
  const std::string_view argument = text(i);
  return argument.size() == word.size() && strncasecmp(argument.data(), word.data(), word.size()) == 0;
}

void Call::open(int mode) {
  key_ = redis.OpenKey(context_, key_name(), mode);
  const int type = key_ == nullptr ? kKeyEmpty : redis.KeyType(key_);
  if (type == kKeyEmpty) {
    presence_ = Presence::kAbsent;
  } else if (type != kKeyOfModule || redis.ModuleTypeGetType(key_) != type_of(sort_)) {
    presence_ = Presence::kOtherType;
  } else {
    value_ = static_cast<Value*>(redis.ModuleTypeGetValue(key_));
    presence_ = value_->is_complete() ? Presence::kPresent : Presence::kIncomplete;
  }
}

void Call::set(std::unique_ptr<Value> value) {
  value_ = value.release();
  redis.ModuleTypeSetValue(key_, type_of(sort_), value_);
  presence_ = value_->is_complete() ? Presence::kPresent : Presence::kIncomplete;
}

bool Call::refuse_absent(const char* absent) {
  switch (presence_) {
    case Presence::kPresent: return false;
    case Presence::kAbsent: error(absent); return true;
    case Presence::kIncomplete: error(kChunksMissing); return true;
    case Presence::kOtherType: error(kWrongType); return true;
  }
  return true;
}

bool Call::speaks_resp3() const { return (redis.GetContextFlags(context_) & kSpeaksResp3) != 0; }

int Call::scan_dump(std::uint64_t iterator) {
  redis.ReplyWithArray(context_, 2);
  const bool is_cuckoo = sort_ == Sort::kCuckoo;
  if (iterator == 0 && !(is_cuckoo && value_->items == 0)) {
    const std::string head = encode_head(*value_);
    reply(1);
    return redis.ReplyWithStringBuffer(context_, head.data(), head.size());
  }
  const std::string_view chunk = iterator == 0 ? std::string_view() : body_at(*value_, iterator - 1);
  reply(chunk.empty() ? 0 : static_cast<long long>(iterator + chunk.size()));
  if (chunk.empty() && is_cuckoo) return redis.ReplyWithNull(context_);
  return redis.ReplyWithStringBuffer(context_, chunk.data(), chunk.size());
}

int Call::load_chunk(std::uint64_t iterator, std::string_view chunk, const char* bad) {
  Refusal refusal;
  if (presence_ == Presence::kAbsent) {
    std::unique_ptr<Value> value = decode_head(chunk, sort_, refusal);
    if (value != nullptr) set(std::move(value));
  } else if (presence_ != Presence::kIncomplete || iterator <= chunk.size() ||
             iterator - 1 - chunk.size() !=
                 body_bytes(*value_)) {  // It is one more than the position behind the chunk.
    refusal.reason = "it is not the next chunk";
  } else {
    append_body(*value_, chunk, refusal);
  }
  if (!refusal.reason.empty()) {
    redis.Log(context_, "warning", "a chunk was refused: %s", refusal.reason.c_str());
    return refusal.is_newer ? error("ERR " + refusal.reason) : error(bad);
  }
  redis.ReplicateVerbatim(context_);
  return ok();
}

namespace {

void reply_value(Call& call, const InfoField& field) {
  field.value ? call.reply(*field.value) : redis.ReplyWithNull(call.context());
}

}  // namespace

int reply_info(Call& call, std::span<const InfoField> fields) {
  redis.ReplyWithMap(call.context(), static_cast<long>(fields.size()));
  for (const InfoField& field : fields) {
    redis.ReplyWithSimpleString(call.context(), field.name);
    reply_value(call, field);
  }
  return kOk;
}

int reply_field(Call& call, const InfoField& field) {
  if (call.speaks_resp3()) return reply_info(call, {&field, 1});
  redis.ReplyWithArray(call.context(), 1);
  reply_value(call, field);
  return kOk;
}

}  // namespace tamis_redis
