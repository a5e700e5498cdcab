// Contracts between our own functions. Bad bytes from disk are never checked with these: they are kCorruption.
#pragma once

#include "tamis/status.h"

/// Always on: aborts the program if a contract of our own code is broken.
#define TAMIS_CHECK(condition)                                                 \
  do {                                                                         \
    if (!(condition)) [[unlikely]] {                                           \
      ::tamis::detail::stop_program(__FILE__ ": broken promise: " #condition); \
    }                                                                          \
  } while (false)

/// On in tests and in the invariants build (TAMIS_INVARIANTS); costs nothing elsewhere.
#ifdef TAMIS_INVARIANTS
#define TAMIS_INVARIANT(condition) TAMIS_CHECK(condition)
#else
#define TAMIS_INVARIANT(condition) \
  do {                             \
  } while (false)
#endif
