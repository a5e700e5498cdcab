// Reading every byte of a store's tables.
#pragma once

#include <memory>
#include <span>

#include "tamis/db.h"
#include "tamis/status.h"
#include "tree/version.h"

namespace tamis {

/// Adds what it finds to the report. The manifest and the journals were checked when the store was opened.
Status verify_tables(std::span<const std::shared_ptr<const Version>> versions, const Progress& progress,
                     VerifyReport& report);

}  // namespace tamis
