#include "module_api.h"

namespace tamis_redis {

const char* load_functions(Context* context) {
  // The first field of the context is the function that finds the others.
  using Find = int (*)(const char* name, void* function);
  const Find find = *reinterpret_cast<Find*>(context);
  const char* missing = nullptr;
#define TAMIS_REDIS_LOAD(name, result, arguments) \
  if (find("RedisModule_" #name, static_cast<void*>(&redis.name)) != kOk && missing == nullptr) missing = #name;
  TAMIS_REDIS_FUNCTIONS(TAMIS_REDIS_LOAD)
#undef TAMIS_REDIS_LOAD
#define TAMIS_REDIS_LOAD_NEWER(name, result, arguments) \
  if (find("RedisModule_" #name, static_cast<void*>(&redis.name)) != kOk) redis.name = nullptr;
  TAMIS_REDIS_NEWER_FUNCTIONS(TAMIS_REDIS_LOAD_NEWER)
#undef TAMIS_REDIS_LOAD_NEWER
  return missing;
}

}  // namespace tamis_redis
