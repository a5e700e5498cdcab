// libtamis-redis.so: RedisBloom's BF.* and CF.* commands with filters of ours. Begins here: the server calls
// RedisModule_OnLoad.
#include <string>
#include <string_view>

#include "commands.h"
#include "defaults.h"
#include "types.h"

namespace tamis_redis {
namespace {

struct CommandRow {
  const char* name;
  CommandFunction function;
  const char* flags;
  int arity;  // With the name; negative: at least.
  std::uint64_t key_use;
  const char* summary;
  const char* complexity;
};

template <int (*command)(Call&), Sort sort>
int run(Context* context, String** arguments, int count) noexcept {
  Call call(context, arguments, count, sort);
  return command(call);
}

template <int (*command)(Call&)>
constexpr CommandFunction bloom = run<command, Sort::kBloom>;
template <int (*command)(Call&)>
constexpr CommandFunction cuckoo = run<command, Sort::kCuckoo>;

constexpr const char* kReads = "readonly fast";
constexpr const char* kReadsMuch = "readonly";
constexpr const char* kGrows = "write deny-oom fast";
constexpr const char* kGrowsSlowly = "write deny-oom";  // Making a filter, or doubling one, takes time by its size.
constexpr const char* kShrinks = "write fast";
constexpr std::uint64_t kReadUse = kKeyReadOnly | kKeyAccess;
constexpr std::uint64_t kMakeUse = kKeyOverwrite | kKeyInsert;
constexpr std::uint64_t kAddUse = kKeyReadWrite | kKeyAccess | kKeyInsert;
constexpr std::uint64_t kRemoveUse = kKeyReadWrite | kKeyAccess | kKeyDelete;
constexpr const char* kOfItems = "O(items * filters)";
constexpr const char* kOfFilter = "O(size of the filter)";
constexpr const char* kConstant = "O(1)";

using namespace commands;

constexpr CommandRow kCommands[] = {
    {"bf.reserve", bloom<bf_reserve>, kGrowsSlowly, -4, kMakeUse, "Creates a Bloom filter", kOfFilter},
    {"bf.add", bloom<bf_add>, kGrows, 3, kAddUse, "Adds an item to a Bloom filter", kOfItems},
    {"bf.madd", bloom<bf_madd>, kGrows, -3, kAddUse, "Adds items to a Bloom filter", kOfItems},
    {"bf.insert", bloom<bf_insert>, kGrows, -4, kAddUse, "Adds items, creates the Bloom filter with options", kOfItems},
    {"bf.exists", bloom<bf_exists>, kReads, 3, kReadUse, "Whether an item may be in a Bloom filter", kOfItems},
    {"bf.mexists", bloom<bf_mexists>, kReads, -3, kReadUse, "Whether items may be in a Bloom filter", kOfItems},
    {"bf.info", bloom<bf_info>, kReads, -2, kReadUse, "What a Bloom filter is", kConstant},
    {"bf.card", bloom<bf_card>, kReads, 2, kReadUse, "The number of items added to a Bloom filter", kConstant},
    {"bf.scandump", bloom<bf_scandump>, kReadsMuch, 3, kReadUse, "A chunk of a Bloom filter's bytes", kOfFilter},
    {"bf.loadchunk", bloom<bf_loadchunk>, kGrowsSlowly, 4, kAddUse, "Restores a Bloom filter by chunks", kOfFilter},
    {"cf.reserve", cuckoo<cf_reserve>, kGrowsSlowly, -3, kMakeUse, "Creates a cuckoo filter", kOfFilter},
    {"cf.add", cuckoo<cf_add>, kGrowsSlowly, 3, kAddUse, "Adds an item to a cuckoo filter", kOfItems},
    {"cf.addnx", cuckoo<cf_addnx>, kGrowsSlowly, 3, kAddUse, "Adds an item that is not in a cuckoo filter", kOfItems},
    {"cf.insert", cuckoo<cf_insert>, kGrowsSlowly, -4, kAddUse, "Adds items to a cuckoo filter", kOfItems},
    {"cf.insertnx", cuckoo<cf_insertnx>, kGrowsSlowly, -4, kAddUse, "Adds items that are not in a cuckoo filter",
     kOfItems},
    {"cf.exists", cuckoo<cf_exists>, kReads, 3, kReadUse, "Whether an item may be in a cuckoo filter", kOfItems},
    {"cf.mexists", cuckoo<cf_mexists>, kReads, -3, kReadUse, "Whether items may be in a cuckoo filter", kOfItems},
    {"cf.count", cuckoo<cf_count>, kReads, 3, kReadUse, "How often an item may be in a cuckoo filter", kOfItems},
    {"cf.del", cuckoo<cf_del>, kShrinks, 3, kRemoveUse, "Removes an item from a cuckoo filter once", kOfItems},
    {"cf.info", cuckoo<cf_info>, kReads, 2, kReadUse, "What a cuckoo filter is", kConstant},
    {"cf.scandump", cuckoo<cf_scandump>, kReadsMuch, 3, kReadUse, "A chunk of a cuckoo filter's bytes", kOfFilter},
    {"cf.loadchunk", cuckoo<cf_loadchunk>, kGrowsSlowly, 4, kAddUse, "Restores a cuckoo filter by chunks", kOfFilter},
};

/// As RedisBloom does: "bloom" or "cuckoo", beside what the flags say.
bool add_categories(Context* context) {
  if (redis.AddACLCategory == nullptr) return true;
  return redis.AddACLCategory(context, "bloom") == kOk && redis.AddACLCategory(context, "cuckoo") == kOk;
}

bool categorise(Command* command, const CommandRow& row) {
  if (redis.SetCommandACLCategories == nullptr) return true;
  const std::string_view flags = row.flags;
  std::string categories = flags.starts_with("readonly") ? "read" : "write";
  categories += flags.ends_with("fast") ? " fast" : " slow";
  if (redis.AddACLCategory != nullptr) categories += row.name[0] == 'b' ? " bloom" : " cuckoo";
  return redis.SetCommandACLCategories(command, categories.c_str()) == kOk;
}

bool create_command(Context* context, const CommandRow& row) {
  static constexpr CommandInfoVersion kVersion = {1, 2 * sizeof(void*), sizeof(KeySpec), 64};
  KeySpec specs[2];
  specs[0].flags = row.key_use;
  specs[1].begin_search = 0;
  const CommandInfo info = {.version = &kVersion,
                            .summary = row.summary,
                            .complexity = row.complexity,
                            .arity = row.arity,
                            .key_specs = specs};
  if (redis.CreateCommand(context, row.name, row.function, row.flags, 1, 1, 1) != kOk) return false;
  Command* const command = redis.GetCommand(context, row.name);
  return redis.SetCommandInfo(command, &info) == kOk && categorise(command, row);
}

int load_module(Context* context, String** arguments, int count) {
  // RedisBloom's name, and the version whose commands these are: clients ask MODULE LIST for both. The two modules
  // cannot be loaded together, as their commands have the same names.
  constexpr const char* kName = "bf";
  constexpr int kVersion = 20600;
  const char* const missing = load_functions(context);
  if (missing != nullptr) {
    if (redis.Log != nullptr)
      redis.Log(context, "warning", "tamis needs Redis 7.0: RedisModule_%s is missing", missing);
    return kError;
  }
  if (redis.IsModuleNameBusy(kName) != 0) return kError;
  redis.SetModuleAttribs(context, kName, kVersion, kApiVersion);
  redis.SetModuleOptions(context, kHandlesIoErrors);
  if (!read_arguments(context, arguments, count) || !create_types(context)) return kError;
  if (!add_categories(context)) return kError;
  for (const CommandRow& row : kCommands) {
    if (!create_command(context, row)) return kError;
  }
  return register_settings(context) ? kOk : kError;
}

}  // namespace
}  // namespace tamis_redis

extern "C" __attribute__((visibility("default"))) int RedisModule_OnLoad(tamis_redis::Context* context,
                                                                         tamis_redis::String** arguments, int count) {
  return tamis_redis::load_module(context, arguments, count);
}
