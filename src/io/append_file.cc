#include "io/append_file.h"

#include "base/try.h"

namespace tamis {

Status AppendFile::append(std::span<const Bytes> pieces) {
  TAMIS_TRY_STATUS(status_);
  TAMIS_TRY_STATUS(file_->write_at(end_, pieces));
  for (const Bytes piece : pieces) end_ += piece.size();
  return {};
}

Status AppendFile::sync() {
  TAMIS_TRY_STATUS(status_);
  status_ = file_->sync();
  if (status_.ok()) durable_end_ = end_;
  return status_;
}

Status AppendFile::close() {
  const Status closed = file_->close();
  return status_.ok() ? closed : status_;
}

}  // namespace tamis
