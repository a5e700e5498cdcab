// Whether a memory sanitizer is enabled.
#pragma once

namespace tamis {

/// A sanitizer sees only malloc's allocations, so nothing should pool memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kWatchesMemory = true;
#elif defined(__has_feature)
inline constexpr bool kWatchesMemory = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kWatchesMemory = false;
#endif

}  // namespace tamis
