// Propagates errors without an `if` each time.
#pragma once

#include <utility>

#include "tamis/status.h"

#define TAMIS_CONCAT_INNER(a, b) a##b
#define TAMIS_CONCAT(a, b) TAMIS_CONCAT_INNER(a, b)

/// TAMIS_TRY(Block block, fetch(position)); returns the status to the caller if fetch failed.
#define TAMIS_TRY(declaration, expression)                    \
  auto TAMIS_CONCAT(try_result_, __LINE__) = (expression);    \
  if (!TAMIS_CONCAT(try_result_, __LINE__).ok()) [[unlikely]] \
    return TAMIS_CONCAT(try_result_, __LINE__).status();      \
  declaration = *std::move(TAMIS_CONCAT(try_result_, __LINE__))

/// TAMIS_TRY_STATUS(verify(raw)); the same for functions that return a Status.
#define TAMIS_TRY_STATUS(expression)           \
  do {                                         \
    ::tamis::Status try_status = (expression); \
    if (!try_status.ok()) [[unlikely]]         \
      return try_status;                       \
  } while (false)
