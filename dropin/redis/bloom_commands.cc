// BF.*
#include <array>
#include <string>

#include "commands.h"
#include "defaults.h"
#include "filters.h"

namespace tamis_redis::commands {
namespace {

constexpr const char* kBadData = "ERR received bad data";
constexpr const char* kNoMemory = "ERR Insufficient memory to create filter";

std::string range_error(std::string_view name, const Setting& setting) {
  return "ERR " + std::string(name) + " must be in the range [" + std::to_string(setting.least) + ", " +
         std::to_string(setting.most) + "]";
}

/// What BF.INSERT says beside the items.
struct InsertOptions {
  Shape shape = default_bloom_shape();
  bool creates = true;
  std::size_t first_item = 2;
};

/// A key without filter gets one. Replicas and the AOF file are told how it was made: their settings may be others.
bool create(Call& call, const Shape& shape) {
  std::unique_ptr<Value> value = make_value(Sort::kBloom, shape);
  if (value == nullptr) {
    call.error(kNoMemory);
    return false;
  }
  call.set(std::move(value));
  const std::string rate = shortest_text(shape.error_rate);
  redis.Replicate(call.context(), "BF.RESERVE", shape.expansion > 0 ? "sclcl" : "sclc", call.key_name(), rate.c_str(),
                  static_cast<long long>(shape.capacity), shape.expansion > 0 ? "EXPANSION" : "NONSCALING",
                  static_cast<long long>(shape.expansion));
  return true;
}

/// Adds the items and replies; an error ends them. Only what changed something is replicated.
int insert(Call& call, const InsertOptions& options, bool is_list) {
  call.open(kRead | kWrite);
  if (call.presence() == Presence::kAbsent && options.creates) {
    if (!create(call, options.shape)) return kOk;
  } else if (call.refuse_absent()) {
    return kOk;
  }
  if (is_list) redis.ReplyWithArray(call.context(), kPostponed);
  long replies = 0;
  bool changed = false;
  for (std::size_t i = options.first_item; i < call.size(); ++i) {
    const Added added = add(call.value(), call.text(i));
    ++replies;
    changed = changed || added == Added::kYes;
    if (added == Added::kFull) {
      call.error("ERR non scaling filter is full");
    } else if (added == Added::kFailed) {
      call.error("ERR problem inserting into filter");
    } else {
      call.reply_bool(added == Added::kYes);
      continue;
    }
    break;
  }
  if (is_list) redis.ReplySetArrayLength(call.context(), replies);
  if (changed) redis.ReplicateVerbatim(call.context());
  return kOk;
}

/// Reads the options of BF.RESERVE; empty, or the error.
std::string read_reserve_options(const Call& call, Shape& shape) {
  bool is_fixed = false;
  bool expands = false;
  for (std::size_t i = 4; i < call.size(); ++i) {
    if (call.is(i, "NONSCALING")) {
      is_fixed = true;
      continue;
    }
    if (!call.is(i, "EXPANSION")) return kUnknownArgument;
    if (++i == call.size()) return "ERR no expansion";
    const std::optional<long long> expansion = call.number(i);
    if (!expansion) return "ERR bad expansion";
    if (!defaults.bf_expansion_factor.allows(*expansion)) return range_error("expansion", defaults.bf_expansion_factor);
    shape.expansion = static_cast<std::uint32_t>(*expansion);
    expands = *expansion > 0;
  }
  if (is_fixed && expands) return "Nonscaling filters cannot expand";
  if (is_fixed) shape.expansion = 0;
  return {};
}

/// Reads the value, argument i, of an option of BF.INSERT; null, or the error.
const char* read_insert_value(const Call& call, std::size_t i, Shape& shape) {
  if (call.is(i - 1, "ERROR")) {
    std::optional<double> rate = call.real(i);
    if (!rate || !accept_error_rate(*rate)) return "Bad error rate";
    shape.error_rate = *rate;
    return nullptr;
  }
  const std::optional<long long> number = call.number(i);
  if (call.is(i - 1, "CAPACITY")) {
    if (!number || !defaults.bf_initial_size.allows(*number)) return "Bad capacity";
    shape.capacity = static_cast<std::uint64_t>(*number);
    return nullptr;
  }
  if (!call.is(i - 1, "EXPANSION")) return kUnknownArgument;
  if (!number || !defaults.bf_expansion_factor.allows(*number)) return "Bad expansion";
  shape.expansion = static_cast<std::uint32_t>(*number);
  return nullptr;
}

/// Replies whether an item may be there. In a filter that is not there none is.
void reply_exists(Call& call, std::size_t item) {
  call.reply_bool(call.presence() == Presence::kPresent && may_contain(call.value(), call.text(item)));
}

/// The fields of BF.INFO, and what a command calls them.
struct NamedField {
  const char* option;
  InfoField field;
};

std::array<NamedField, 5> info_of(Value& value) {
  std::optional<long long> expansion;
  if (value.shape.expansion > 0) expansion = value.shape.expansion;
  return {{{"CAPACITY", {"Capacity", static_cast<long long>(capacity_of(value))}},
           {"SIZE", {"Size", static_cast<long long>(memory_of(value))}},
           {"FILTERS", {"Number of filters", static_cast<long long>(value.filters.size())}},
           {"ITEMS", {"Number of items inserted", static_cast<long long>(value.items)}},
           {"EXPANSION", {"Expansion rate", expansion}}}};
}

}  // namespace

int bf_reserve(Call& call) {
  if (call.size() < 4 || call.size() > 7) return call.wrong_arity();
  std::optional<double> rate = call.real(2);
  if (!rate) return call.error("ERR bad error rate");
  if (!accept_error_rate(*rate)) return call.error("ERR error rate must be in the range (0.000000, 1.000000)");
  const std::optional<long long> capacity = call.number(3);
  if (!capacity) return call.error("ERR bad capacity");
  if (!defaults.bf_initial_size.allows(*capacity)) return call.error(range_error("capacity", defaults.bf_initial_size));
  Shape shape = default_bloom_shape();
  shape.error_rate = *rate;
  shape.capacity = static_cast<std::uint64_t>(*capacity);
  if (const std::string error = read_reserve_options(call, shape); !error.empty()) return call.error(error);
  call.open(kRead | kWrite);
  if (call.presence() != Presence::kAbsent) {
    return call.error(call.presence() == Presence::kOtherType ? kWrongType : kExists);
  }
  return create(call, shape) ? call.ok() : kOk;
}

int bf_add(Call& call) {
  if (call.size() != 3) return call.wrong_arity();
  return insert(call, {}, false);
}

int bf_madd(Call& call) {
  if (call.size() < 3) return call.wrong_arity();
  return insert(call, {}, true);
}

int bf_insert(Call& call) {
  InsertOptions options;
  bool is_fixed = false;
  std::size_t i = 2;
  for (; i < call.size() && !call.is(i, "ITEMS"); ++i) {
    if (call.is(i, "NOCREATE")) {
      options.creates = false;
    } else if (call.is(i, "NONSCALING")) {
      is_fixed = true;
    } else if (++i == call.size()) {
      return call.wrong_arity();
    } else if (const char* error = read_insert_value(call, i, options.shape); error != nullptr) {
      return call.error(error);
    }
  }
  if (i + 1 >= call.size()) return call.wrong_arity();
  if (is_fixed) options.shape.expansion = 0;
  options.first_item = i + 1;
  return insert(call, options, true);
}

int bf_exists(Call& call) {
  if (call.size() != 3) return call.wrong_arity();
  call.open(kRead);
  if (call.presence() != Presence::kAbsent && call.refuse_absent()) return kOk;
  reply_exists(call, 2);
  return kOk;
}

int bf_mexists(Call& call) {
  if (call.size() < 3) return call.wrong_arity();
  call.open(kRead);
  if (call.presence() != Presence::kAbsent && call.refuse_absent()) return kOk;
  redis.ReplyWithArray(call.context(), static_cast<long>(call.size() - 2));
  for (std::size_t i = 2; i < call.size(); ++i) reply_exists(call, i);
  return kOk;
}

int bf_info(Call& call) {
  if (call.size() != 2 && call.size() != 3) return call.wrong_arity();
  call.open(kRead);
  if (call.refuse_absent()) return kOk;
  std::array<InfoField, 5> all;
  std::size_t i = 0;
  for (const NamedField& named : info_of(call.value())) {
    if (call.size() == 3 && call.is(2, named.option)) return reply_field(call, named.field);
    all[i++] = named.field;
  }
  return call.size() == 3 ? call.error("Invalid information value") : reply_info(call, all);
}

int bf_card(Call& call) {
  if (call.size() != 2) return call.wrong_arity();
  call.open(kRead);
  if (call.presence() == Presence::kAbsent) return call.reply(0);
  if (call.refuse_absent()) return kOk;
  return call.reply(static_cast<long long>(call.value().items));
}

int bf_scandump(Call& call) {
  if (call.size() != 3) return call.wrong_arity();
  call.open(kRead);
  if (call.refuse_absent()) return kOk;
  const std::optional<long long> iterator = call.number(2);
  if (!iterator || *iterator < 0) return call.error("Second argument must be numeric");
  return call.scan_dump(static_cast<std::uint64_t>(*iterator));
}

int bf_loadchunk(Call& call) {
  if (call.size() != 4) return call.wrong_arity();
  const std::optional<long long> iterator = call.number(2);
  if (!iterator) return call.error("ERR Second argument must be numeric");
  call.open(kRead | kWrite);
  if (call.presence() == Presence::kOtherType) return call.error(kWrongType);
  if (call.presence() == Presence::kAbsent && *iterator != 1) return call.error(kNotFound);
  if (*iterator < 1) return call.error(kBadData);
  return call.load_chunk(static_cast<std::uint64_t>(*iterator), call.text(3), kBadData);
}

}  // namespace tamis_redis::commands
