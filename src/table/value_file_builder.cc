#include "table/value_file_builder.h"

#include <utility>

#include "base/try.h"

namespace tamis {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{256} << 10;  // The minimum of one write.

}  // namespace

Result<std::unique_ptr<ValueFileBuilder>> ValueFileBuilder::create(FileSystem& files, ValueFileSpec spec) {
  TAMIS_TRY(std::unique_ptr<WritableFile> file, files.open_writable(spec.path, OpenMode::kCreate));
  return std::unique_ptr<ValueFileBuilder>(new ValueFileBuilder(std::move(spec), std::move(file)));
}

ValueFileBuilder::ValueFileBuilder(ValueFileSpec spec, std::unique_ptr<WritableFile> file)
    : spec_(std::move(spec)), file_(std::move(file), 0) {
  buffer_ = as_text(encode_value_file_header({spec_.store_id, spec_.number, spec_.features}));
}

/// A large value is not copied: it is written from where it is, after what was buffered.
Result<ValuePointer> ValueFileBuilder::add(std::string_view key, std::string_view value) {
  ValuePointer pointer;
  pointer.file = spec_.number;
  pointer.offset = bytes();
  pointer.value_bytes = value.size();
  Bytes stored = as_bytes(value);
  if (spec_.codec != nullptr && spec_.codec->compress(stored, compressed_)) {
    stored = as_bytes(compressed_);
    pointer.codec = spec_.codec->id;
  }
  pointer.stored_bytes = stored.size();
  pointer.checksum = value_checksum(stored, pointer, key);
  if (buffer_.size() + stored.size() < kWriteBytes) {
    buffer_ += as_text(stored);
    return pointer;
  }
  const std::array<Bytes, 2> pieces = {as_bytes(buffer_), stored};
  TAMIS_TRY_STATUS(file_.append(pieces));
  buffer_.clear();
  return pointer;
}

Result<ValueFileFacts> ValueFileBuilder::finish() {
  if (!buffer_.empty()) TAMIS_TRY_STATUS(file_.append(as_bytes(buffer_)));
  buffer_.clear();
  TAMIS_TRY_STATUS(file_.sync());
  TAMIS_TRY_STATUS(file_.close());
  return ValueFileFacts{spec_.number, file_.end(), spec_.created_unix_seconds};
}

}  // namespace tamis
