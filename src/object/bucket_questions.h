// The questions of check_bucket, to any ObjectStore.
#pragma once

#include "object/object_store.h"
#include "tamis/bucket.h"

namespace tamis {

/// Asks all that can be seen through an ObjectStore, and removes what it wrote. Its objects begin with a name that
/// nobody else uses. Fails if the first request, a put, fails or has no answer: nothing can be said then, and if the
/// server did it after all, its object stays.
Result<BucketReport> ask_bucket(ObjectStore& objects);

}  // namespace tamis
