#include "status.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include "views.h"

namespace tamis::dropin {

leveldb::Status leveldb_status(const Status& status) {
  const leveldb::Slice message = slice_of(status.message());
  switch (status.code()) {
    case StatusCode::kOk: return leveldb::Status::OK();
    case StatusCode::kInvalidArgument: return leveldb::Status::InvalidArgument(message);
    case StatusCode::kNotSupported: return leveldb::Status::NotSupported(message);
    case StatusCode::kCorruption: return leveldb::Status::Corruption(message);
    case StatusCode::kBusy:
    case StatusCode::kIoError:
    case StatusCode::kOutOfSpace:
    case StatusCode::kClosed:
    case StatusCode::kConflict:
    case StatusCode::kStale: return leveldb::Status::IOError(message);
  }
  return leveldb::Status::IOError(message);
}

}  // namespace tamis::dropin

namespace leveldb {
namespace {

// Behind state_: the length of the message in four bytes, the code, the message. Inline functions of the header read
// the code.
constexpr std::size_t kHeader = 5;

std::uint32_t message_bytes(const char* state) {
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, state, sizeof(bytes));
  return bytes;
}

}  // namespace

Status::Status(Code code, const Slice& msg, const Slice& msg2) {
  constexpr std::string_view kBetween = ": ";
  const std::size_t between = msg2.empty() ? 0 : kBetween.size();
  const auto bytes = static_cast<std::uint32_t>(msg.size() + between + msg2.size());
  char* state = new char[kHeader + bytes];
  std::memcpy(state, &bytes, sizeof(bytes));
  state[4] = static_cast<char>(code);
  char* message = state + kHeader;
  std::memcpy(message, msg.data(), msg.size());
  std::memcpy(message + msg.size(), kBetween.data(), between);
  std::memcpy(message + msg.size() + between, msg2.data(), msg2.size());
  state_ = state;
}

const char* Status::CopyState(const char* s) {
  const std::size_t bytes = kHeader + message_bytes(s);
  char* copy = new char[bytes];
  std::memcpy(copy, s, bytes);
  return copy;
}

std::string Status::ToString() const {
  if (ok()) return "OK";
  std::string text;
  switch (code()) {
    case kOk: break;
    case kNotFound: text = "NotFound: "; break;
    case kCorruption: text = "Corruption: "; break;
    case kNotSupported: text = "Not implemented: "; break;
    case kInvalidArgument: text = "Invalid argument: "; break;
    case kIOError: text = "IO error: "; break;
  }
  return text.append(state_ + kHeader, message_bytes(state_));
}

}  // namespace leveldb
