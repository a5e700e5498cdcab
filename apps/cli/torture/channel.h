// What the tortured process tells the one that watches it, through a pipe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tamis::cli {

/// One thing told.
struct Message {
  enum class Kind : std::uint8_t {
    kOpened,
    kAcknowledged,  ///< `number`: the commit; `writer`: whose.
    kSynced,        ///< The same, of a commit that was synced.
    kRead,          ///< `number`: how many keys were read and compared since the last such message.
    kFlushes,       ///< A flush was asked for, and is done.
    kFlushed,
    kCompacts,  ///< As well.
    kCompacted,
    kCheckpointed,
    kClosed,
    kWrong,   ///< `text`: what was read and is not right.
    kFailed,  ///< `text`: what the store said; `number`: its StatusCode.
  };
  Kind kind = Kind::kOpened;
  std::uint8_t writer = 0;
  std::uint64_t number = 0;
  std::string text = {};
};

/// Writes the message in one piece: it arrives whole or not at all, from any thread, and arrives even when this process
/// is killed right after.
void tell(int descriptor, const Message& message);

/// Takes messages out of what was read from the pipe, in whatever pieces.
class MessageBuffer {
 public:
  void add(std::string_view bytes) { bytes_.append(bytes); }
  std::optional<Message> next();
  /// No part of a message is left.
  [[nodiscard]] bool empty() const { return at_ == bytes_.size(); }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

}  // namespace tamis::cli
