#include "table/value_file.h"

#include <fmt/core.h>

#include <new>
#include <utility>
#include <vector>

#include "base/try.h"
#include "io/file_names.h"
#include "table/codec.h"

namespace tamis {
namespace {

Status make_room(std::string& to, std::uint64_t bytes) {
  try {
    to.resize(bytes);
    return {};
  } catch (const std::bad_alloc&) {
    return Status::out_of_space(fmt::format("no memory for a value of {} bytes", bytes));
  }
}

MutableBytes bytes_of(std::string& text) { return std::as_writable_bytes(std::span(text)); }

}  // namespace

std::string ValueFile::path() const { return value_file_path(context_.directory, facts_.number); }

Status ValueFile::damage(const ValuePointer& pointer, std::string_view why) const {
  return Status::corruption(fmt::format("{}: value at offset {}: {}", path(), pointer.offset, why));
}

Status ValueFile::hold_file() {
  if (held_file_ != nullptr) return {};
  TAMIS_TRY(held_file_, open_file());
  return {};
}

Result<std::shared_ptr<const ReadableFile>> ValueFile::open_file() const {
  if (held_file_ != nullptr) return held_file_;
  return context_.handles->open(facts_.number, path());
}

Result<std::shared_ptr<const ReadableFile>> ValueFile::open(const ValuePointer& pointer) const {
  Result<std::shared_ptr<const ReadableFile>> file = open_file();
  if (!file.ok() && context_.handles->is_missing(path())) return damage(pointer, "the file is missing");
  return file;
}

Status ValueFile::read(const ValuePointer& pointer, std::string_view key, std::string& to) const {
  TAMIS_TRY(const std::shared_ptr<const ReadableFile> file, open(pointer));
  TAMIS_TRY_STATUS(make_room(to, pointer.stored_bytes));
  return finish(pointer, key, file->read_at(pointer.offset, bytes_of(to)), to);
}

Status ValueFile::copy_out(const ValuePointer& pointer, std::string_view key, std::string& to) {
  Status copied = read(pointer, key, to);
  if (copied.code() == StatusCode::kCorruption) is_damaged_.store(true, std::memory_order_relaxed);
  return copied;
}

void ValueFile::read_many(std::span<ValueRead> reads) {
  std::vector<FileRead> sent;
  std::vector<ValueRead*> senders;
  std::vector<std::shared_ptr<const ReadableFile>> files;  // Stay open until all is read.
  for (ValueRead& read : reads) {
    Result<std::shared_ptr<const ReadableFile>> file = read.file->open(read.pointer);
    read.status = file.ok() ? make_room(*read.to, read.pointer.stored_bytes) : file.status();
    if (!read.status.ok()) continue;
    sent.push_back({.file = file->get(), .offset = read.pointer.offset, .to = bytes_of(*read.to)});
    senders.push_back(&read);
    files.push_back(*std::move(file));
  }
  if (sent.empty()) return;
  senders.front()->file->context_.handles->read_many(sent);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    ValueRead& read = *senders[i];
    read.status = read.file->finish(read.pointer, read.key, sent[i].there, *read.to);
  }
}

/// `to` has the stored bytes and gets the value.
Status ValueFile::finish(const ValuePointer& pointer, std::string_view key, const Result<std::size_t>& there,
                         std::string& to) const {
  if (!there.ok()) return there.status();
  if (*there != pointer.stored_bytes) {
    return damage(pointer, fmt::format("the file has {} of its {} bytes", *there, pointer.stored_bytes));
  }
  const std::uint64_t computed = value_checksum(as_bytes(to), pointer, key);
  if (computed != pointer.checksum) {
    return damage(pointer, fmt::format("its checksum is {:016x}, its bytes have {:016x}", pointer.checksum, computed));
  }
  if (pointer.codec == 0) return {};
  const Codec* const codec = find_codec(pointer.codec);
  if (codec == nullptr) {
    return Status::not_supported(
        fmt::format("{}: codec {} is not known to this build; use a newer tamis", path(), pointer.codec));
  }
  std::string value;
  TAMIS_TRY_STATUS(make_room(value, pointer.value_bytes));
  if (!codec->decompress(as_bytes(to), bytes_of(value))) return damage(pointer, "it does not decompress");
  to = std::move(value);
  return {};
}

Status ValueFile::verify_header() const {
  const ValuePointer start;
  TAMIS_TRY(const std::shared_ptr<const ReadableFile> file, open(start));
  ValueFileHeaderBytes bytes = {};
  TAMIS_TRY(const std::size_t there, file->read_at(0, bytes));
  TAMIS_TRY(const ValueFileHeader header, decode_value_file_header(Bytes(bytes).first(there), path()));
  if (header.number != facts_.number || header.store_id != context_.identity.store_id) {
    return Status::corruption(
        fmt::format("{}: the header is of value file {}, perhaps of another store", path(), header.number));
  }
  TAMIS_TRY(const std::uint64_t size, file->size());
  if (size == facts_.file_bytes) return {};
  return Status::corruption(
      fmt::format("{}: the file has {} bytes, the manifest says {}", path(), size, facts_.file_bytes));
}

}  // namespace tamis
