// The two types of values that Redis is told of. Their data is not that of RedisBloom's types, so they have other
// names.
#pragma once

#include "module_api.h"
#include "value.h"

namespace tamis_redis {

/// Tells the server; false if it refuses.
bool create_types(Context* context);

Type* type_of(Sort sort);

}  // namespace tamis_redis
