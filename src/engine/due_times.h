// From "expires in ten minutes" to a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "entry/keyspace_id.h"
#include "tamis/batch.h"

namespace tamis {

/// How long the puts of a write live that do not say so themselves.
struct ExpiryDefaults {
  std::chrono::milliseconds of_write = {};                           ///< WriteOptions::expires_in; 0: the keyspace's.
  std::function<std::chrono::milliseconds(KeyspaceId)> of_keyspace;  ///< 0: they do not expire.
};

/// The same changes, in which every put that expires says when. `now` is the time of readers (ExpiryClock::now): so
/// nothing is hidden as soon as it is written, even if the clock is behind the horizon.
Batch with_due_times(const Batch& batch, std::uint64_t now, const ExpiryDefaults& defaults);

}  // namespace tamis
