// batch_format: any bytes are a batch or an error; a batch that decodes can be rebuilt from its entries, and no
// prefix of it is a batch.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "entry/batch_format.h"
#include "entry/changes.h"

namespace {

using namespace tamis;

using KeyspacesAndEntries = std::vector<std::pair<KeyspaceId, Entry>>;

KeyspacesAndEntries entries_of(const BatchView& view) {
  KeyspacesAndEntries entries;
  for (auto it = view.begin(); it != view.end(); ++it) entries.emplace_back(it.keyspace(), *it);
  TAMIS_CHECK(entries.size() == view.size());
  return entries;
}

Batch made_again(const KeyspacesAndEntries& entries) {
  Batch batch;
  for (const auto& [keyspace, entry] : entries) {
    BatchInside::add(batch, keyspace, entry.kind, entry.key, entry.value);
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
    const StatusCode code = view.status().code();
    TAMIS_CHECK(code == StatusCode::kCorruption || code == StatusCode::kNotSupported);
    return 0;
  }
  const KeyspacesAndEntries entries = entries_of(*view);
  const Batch batch = made_again(entries);
  const Changes group[] = {batch};
  std::string encoded;
  tamis::EntryKeyspaces keyspaces;
  append_encoded(encoded, group, keyspaces);
  TAMIS_CHECK(encoded.size() == batch.byte_size());
  TAMIS_CHECK(encoded.size() <= size);  // Varints may have been padded, and markers may have been superfluous.
  const Result<BatchView> again = BatchView::decode(as_bytes(encoded), kFirst, "encoded");
  TAMIS_CHECK(again.ok() && entries_of(*again) == entries);
  TAMIS_CHECK(!BatchView::decode(bytes.first(size - 1), kFirst, "input").ok());
  return 0;
}
