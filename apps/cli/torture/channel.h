// Messages from the tortured process to its watcher, through a pipe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tamis::cli {

struct Message {
  enum class Kind : std::uint8_t {
    kOpened,
    kAcknowledged,  ///< `number`: the commit; `writer`: its writer.
    kSynced,        ///< As kAcknowledged, for a synced commit.
    kRead,          ///< `number`: keys read and compared since the last such message.
    kFlushes,       ///< A requested flush has begun; kFlushed: it is done.
    kFlushed,
    kCompacts,  ///< The same for compactions.
    kCompacted,
    kCheckpointed,
    kClosed,
    kWrong,   ///< `text`: the wrong answer.
    kFailed,  ///< `text`: the store's error; `number`: its StatusCode.
  };
  Kind kind = Kind::kOpened;
  std::uint8_t writer = 0;
  std::uint64_t number = 0;
  std::string text = {};
};

/// Writes the message atomically, from any thread. It arrives even if this process is killed right after.
void tell(int descriptor, const Message& message);

/// Decodes messages from bytes read from the pipe, in pieces of any size.
class MessageBuffer {
 public:
  void add(std::string_view bytes) { bytes_.append(bytes); }
  std::optional<Message> next();
  /// No partial message is left.
  [[nodiscard]] bool empty() const { return at_ == bytes_.size(); }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

}  // namespace tamis::cli
