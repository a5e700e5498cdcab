// batch_format: any bytes are a batch or kCorruption; a batch that decodes can be rebuilt from its entries, and no
// prefix of it is a batch.
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "entry/batch_format.h"
#include "entry/changes.h"

namespace {

using namespace tamis;

std::vector<Entry> entries_of(const BatchView& view) {
  std::vector<Entry> entries;
  for (const Entry& entry : view) entries.push_back(entry);
  TAMIS_CHECK(entries.size() == view.size());
  return entries;
}

Batch made_again(const std::vector<Entry>& entries) {
  Batch batch;
  for (const Entry& entry : entries) {
    if (entry.kind == EntryKind::kPut) {
      batch.put(entry.key, entry.value);
    } else {
      batch.remove(entry.key);
    }
  }
  TAMIS_CHECK(batch.status().ok() && batch.size() == entries.size());
  return batch;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr Sequence kFirst{42};
  const Bytes bytes = std::as_bytes(std::span(data, size));
  const Result<BatchView> view = BatchView::decode(bytes, kFirst, "input");
  if (!view.ok()) {
    TAMIS_CHECK(view.status().code() == StatusCode::kCorruption);
    return 0;
  }
  const std::vector<Entry> entries = entries_of(*view);
  const Batch batch = made_again(entries);
  const Changes group[] = {batch};
  std::string encoded;
  append_encoded(encoded, group);
  TAMIS_CHECK(encoded.size() == encoded_bytes(group) && encoded.size() <= size);  // Varints may have been padded.
  const Result<BatchView> again = BatchView::decode(as_bytes(encoded), kFirst, "encoded");
  TAMIS_CHECK(again.ok() && entries_of(*again) == entries);
  TAMIS_CHECK(!BatchView::decode(bytes.first(size - 1), kFirst, "input").ok());
  return 0;
}
