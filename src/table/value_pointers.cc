#include "table/value_pointers.h"

#include <algorithm>

#include "base/check.h"
#include "entry/expiry.h"

namespace tamis {

ValuePointer pointer_of(const Entry& entry) {
  TAMIS_INVARIANT(is_apart(entry.kind));
  const Result<ValuePointer> pointer =
      decode_value_pointer(expires(entry.kind) ? load_expiring(entry.value).value : entry.value, "a pointer");
  TAMIS_CHECK(pointer.ok());
  return *pointer;
}

void count_value(std::vector<ValuesOfTable>& all, const ValuePointer& pointer) {
  auto at = std::ranges::lower_bound(all, pointer.file, {}, &ValuesOfTable::file);
  if (at == all.end() || at->file != pointer.file) at = all.insert(at, {.file = pointer.file});
  at->bytes += pointer.stored_bytes;
  ++at->values;
}

ValuesOfTable sum_of(const std::vector<ValuesOfTable>& all) {
  ValuesOfTable sum;
  for (const ValuesOfTable& values : all) {
    sum.bytes += values.bytes;
    sum.values += values.values;
  }
  return sum;
}

}  // namespace tamis
