// Whether this is compiled for a sanitizer that watches memory.
#pragma once

namespace tamis {

/// It sees the ends and the lives of malloc's pieces only, so nothing should keep memory for itself.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kWatchesMemory = true;
#elif defined(__has_feature)
inline constexpr bool kWatchesMemory = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kWatchesMemory = false;
#endif

}  // namespace tamis
