// CF.*
#include <array>
#include <bit>
#include <string>

#include "commands.h"
#include "defaults.h"
#include "filters.h"

namespace tamis_redis::commands {
namespace {

constexpr const char* kNoMemory = "ERR Insufficient memory to create filter";

struct InsertOptions {
  Shape shape = default_cuckoo_shape();
  bool creates = true;
  bool only_new = false;  // The commands that end in NX.
  bool is_list = false;
  std::size_t first_item = 2;
};

/// A key without filter gets one. Replicas and the AOF file are told how it was made: their settings may be others.
bool create(Call& call, const Shape& shape) {
  std::unique_ptr<Value> value = make_value(Sort::kCuckoo, shape);
  if (value == nullptr) {
    call.error(kNoMemory);
    return false;
  }
  call.set(std::move(value));
  redis.Replicate(call.context(), "CF.RESERVE", "slclclcl", call.key_name(), static_cast<long long>(shape.capacity),
                  "BUCKETSIZE", static_cast<long long>(shape.bucket_size), "MAXITERATIONS",
                  static_cast<long long>(shape.max_iterations), "EXPANSION", static_cast<long long>(shape.expansion));
  return true;
}

void reply_added(Call& call, const InsertOptions& options, Added added) {
  if (added == Added::kYes || added == Added::kWasThere) {
    // CF.INSERTNX replies numbers in RESP3 too.
    const bool is_number = options.is_list && options.only_new;
    is_number ? call.reply(added == Added::kYes ? 1 : 0) : call.reply_bool(added == Added::kYes);
  } else if (!options.is_list) {
    call.error(added == Added::kFull ? "Filter is full" : "ERR Insufficient memory");
  } else if (call.speaks_resp3() && !options.only_new) {
    call.reply_bool(false);
  } else {
    call.reply(-1);
  }
}

int insert(Call& call, const InsertOptions& options) {
  call.open(kRead | kWrite);
  if (call.presence() == Presence::kAbsent && options.creates) {
    if (!create(call, options.shape)) return kOk;
  } else if (call.refuse_absent()) {
    return kOk;
  }
  if (options.is_list) redis.ReplyWithArray(call.context(), static_cast<long>(call.size() - options.first_item));
  bool changed = false;
  for (std::size_t i = options.first_item; i < call.size(); ++i) {
    const std::string_view item = call.text(i);
    const bool was_there = options.only_new && may_contain(call.value(), item);
    const Added added = was_there ? Added::kWasThere : add(call.value(), item);
    changed = changed || added == Added::kYes;
    reply_added(call, options, added);
  }
  if (changed) redis.ReplicateVerbatim(call.context());
  return kOk;
}

int add_one(Call& call, bool only_new) {
  if (call.size() != 3) return call.wrong_arity();
  return insert(call, {.only_new = only_new});
}

int insert_list(Call& call, bool only_new) {
  InsertOptions options = {.only_new = only_new, .is_list = true};
  std::size_t i = 2;
  for (; i < call.size() && !call.is(i, "ITEMS"); ++i) {
    if (call.is(i, "NOCREATE")) {
      options.creates = false;
      continue;
    }
    if (!call.is(i, "CAPACITY")) return call.error(kUnknownArgument);
    if (++i == call.size()) return call.wrong_arity();
    const std::optional<long long> capacity = call.number(i);
    if (!capacity) return call.error("Bad capacity");
    if (*capacity < 2 * defaults.cf_bucket_size.value || !defaults.cf_initial_size.allows(*capacity)) {
      return call.error("Capacity must be in the range [cf-bucket-size * 2, " +
                        std::to_string(defaults.cf_initial_size.most) + "]");
    }
    options.shape.capacity = static_cast<std::uint64_t>(*capacity);
  }
  if (i + 1 >= call.size()) return call.wrong_arity();
  options.first_item = i + 1;
  return insert(call, options);
}

/// Reads an option of CF.RESERVE at argument i and its value; empty, or the error.
std::string read_reserve_option(const Call& call, std::size_t i, Shape& shape) {
  const auto read = [&](const Setting& setting, const char* name, auto& number) -> std::string {
    const std::optional<long long> value = call.number(i + 1);
    if (!value) return "Couldn't parse " + std::string(name);
    if (!setting.allows(*value)) {
      return std::string(name) + ": value must be in the range [" + std::to_string(setting.least) + ", " +
             std::to_string(setting.most) + "]";
    }
    number = static_cast<std::remove_reference_t<decltype(number)>>(*value);
    return {};
  };
  if (call.is(i, "BUCKETSIZE")) return read(defaults.cf_bucket_size, "BUCKETSIZE", shape.bucket_size);
  if (call.is(i, "MAXITERATIONS")) return read(defaults.cf_max_iterations, "MAXITERATIONS", shape.max_iterations);
  if (call.is(i, "EXPANSION")) return read(defaults.cf_expansion_factor, "EXPANSION", shape.expansion);
  return kUnknownArgument;
}

/// Opens the key of a command that only reads: false if it replied an error. A filter that is not there is empty.
bool open_to_read(Call& call) {
  call.open(kRead);
  return call.presence() == Presence::kAbsent || !call.refuse_absent();
}

bool has_item(const Call& call, std::size_t item) {
  return call.presence() == Presence::kPresent && may_contain(call.value(), call.text(item));
}

/// Of the buckets that RedisBloom makes for this shape. Ours are others, but clients divide by it.
std::uint64_t nominal_buckets(const Shape& shape) {
  return std::bit_ceil((shape.capacity + shape.bucket_size - 1) / shape.bucket_size);
}

}  // namespace

int cf_reserve(Call& call) {
  if (call.size() < 3 || call.size() % 2 == 0) return call.wrong_arity();
  const std::optional<long long> capacity = call.number(2);
  if (!capacity) return call.error("Bad capacity");
  Shape shape = default_cuckoo_shape();
  for (std::size_t i = 3; i < call.size(); i += 2) {
    if (const std::string error = read_reserve_option(call, i, shape); !error.empty()) return call.error(error);
  }
  if (*capacity < 2 * shape.bucket_size || *capacity > defaults.cf_initial_size.most) {
    return call.error("Capacity must be in the range [2 * BUCKETSIZE, " +
                      std::to_string(defaults.cf_initial_size.most) + "]");
  }
  shape.capacity = static_cast<std::uint64_t>(*capacity);
  call.open(kRead | kWrite);
  if (call.presence() != Presence::kAbsent) {
    return call.error(call.presence() == Presence::kOtherType ? kWrongType : kExists);
  }
  return create(call, shape) ? call.ok() : kOk;
}

int cf_add(Call& call) { return add_one(call, false); }
int cf_addnx(Call& call) { return add_one(call, true); }
int cf_insert(Call& call) { return insert_list(call, false); }
int cf_insertnx(Call& call) { return insert_list(call, true); }

int cf_exists(Call& call) {
  if (call.size() != 3) return call.wrong_arity();
  return open_to_read(call) ? call.reply_bool(has_item(call, 2)) : kOk;
}

int cf_mexists(Call& call) {
  if (call.size() < 3) return call.wrong_arity();
  if (!open_to_read(call)) return kOk;
  redis.ReplyWithArray(call.context(), static_cast<long>(call.size() - 2));
  for (std::size_t i = 2; i < call.size(); ++i) call.reply_bool(has_item(call, i));
  return kOk;
}

int cf_count(Call& call) {
  if (call.size() != 3) return call.wrong_arity();
  if (!open_to_read(call)) return kOk;
  const bool is_absent = call.presence() == Presence::kAbsent;
  return call.reply(is_absent ? 0 : static_cast<long long>(count(call.value(), call.text(2))));
}

int cf_del(Call& call) {
  if (call.size() != 3) return call.wrong_arity();
  call.open(kRead | kWrite);
  if (call.refuse_absent("Not found")) return kOk;
  const bool was_there = remove(call.value(), call.text(2));
  if (was_there) redis.ReplicateVerbatim(call.context());
  return call.reply_bool(was_there);
}

int cf_info(Call& call) {
  if (call.size() != 2) return call.wrong_arity();
  call.open(kRead);
  if (call.refuse_absent()) return kOk;
  Value& value = call.value();
  const Shape& shape = value.shape;
  const auto number = [](std::uint64_t n) { return static_cast<long long>(n); };
  const std::array<InfoField, 8> fields = {{{"Size", number(memory_of(value))},
                                            {"Number of buckets", number(nominal_buckets(shape))},
                                            {"Number of filters", number(value.filters.size())},
                                            {"Number of items inserted", number(value.items)},
                                            {"Number of items deleted", number(value.removed)},
                                            {"Bucket size", number(shape.bucket_size)},
                                            {"Expansion rate", number(shape.expansion)},
                                            {"Max iterations", number(shape.max_iterations)}}};
  return reply_info(call, fields);
}

int cf_scandump(Call& call) {
  if (call.size() != 3) return call.wrong_arity();
  const std::optional<long long> iterator = call.number(2);
  if (!iterator || *iterator < 0) return call.error("Invalid position");
  call.open(kRead);
  if (call.refuse_absent()) return kOk;
  return call.scan_dump(static_cast<std::uint64_t>(*iterator));
}

int cf_loadchunk(Call& call) {
  if (call.size() != 4) return call.wrong_arity();
  const std::optional<long long> iterator = call.number(2);
  if (!iterator || *iterator <= 0) return call.error("Invalid position");
  call.open(kRead | kWrite);
  if (call.presence() == Presence::kOtherType) return call.error(kWrongType);
  if (*iterator == 1 && call.presence() != Presence::kAbsent) return call.error(kExists);
  if (*iterator != 1 && call.presence() == Presence::kAbsent) return call.error(kNotFound);
  return call.load_chunk(static_cast<std::uint64_t>(*iterator), call.text(3),
                         *iterator == 1 ? "Couldn't create filter!" : "Couldn't load chunk!");
}

}  // namespace tamis_redis::commands
