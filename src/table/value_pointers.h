// Entries whose values are apart.
#pragma once

#include <vector>

#include "entry/entry.h"
#include "table/value_file_format.h"
#include "table/value_files.h"

namespace tamis {

/// The pointer of an entry whose value is apart. Its bytes were checked with the block, or written by this program.
ValuePointer pointer_of(const Entry& entry);

/// Adds a value to what a table points to, by ascending file.
void count_value(std::vector<ValuesOfTable>& all, const ValuePointer& pointer);

/// Of all files together.
ValuesOfTable sum_of(const std::vector<ValuesOfTable>& all);

}  // namespace tamis
