#include "cli/torture/channel.h"

#include <unistd.h>

#include <climits>
#include <cstring>

namespace tamis::cli {
namespace {

/// Both ends are the same program on the same machine.
struct Header {
  Message::Kind kind;
  std::uint8_t writer;
  std::uint16_t text_bytes;
  std::uint32_t unused;
  std::uint64_t number;
};

constexpr std::size_t kMaxText = PIPE_BUF - sizeof(Header);  // Pipe writes up to PIPE_BUF are atomic.

}  // namespace

void tell(int descriptor, const Message& message) {
  const std::string_view text = std::string_view(message.text).substr(0, kMaxText);
  const Header header = {message.kind, message.writer, static_cast<std::uint16_t>(text.size()), 0, message.number};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += text;
  // Without a watcher there is nothing left to do; SIGPIPE ends the process.
  if (::write(descriptor, bytes.data(), bytes.size()) < 0) ::_exit(1);
}

std::optional<Message> MessageBuffer::next() {
  Header header;
  if (bytes_.size() - at_ < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes_.data() + at_, sizeof header);
  if (bytes_.size() - at_ - sizeof header < header.text_bytes) return std::nullopt;
  Message message = {header.kind, header.writer, header.number, bytes_.substr(at_ + sizeof header, header.text_bytes)};
  at_ += sizeof header + header.text_bytes;
  if (at_ > bytes_.size() / 2) {
    bytes_.erase(0, at_);
    at_ = 0;
  }
  return message;
}

}  // namespace tamis::cli
