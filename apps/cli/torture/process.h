// A child process of this program that writes to a store until it is killed, and its messages through a pipe.
#pragma once

#include <sys/types.h>

#include <chrono>
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

  [[nodiscard]] bool is_commit() const { return kind == Kind::kAcknowledged || kind == Kind::kSynced; }
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

/// Invariants: the process ends with this object, and also when its parent ends for any reason.
///
/// Threads: one at a time.
class TortureProcess {
 public:
  /// Starts "tamis torture-writer FOLDER SEED ROUND". Ctrl-C does not reach it.
  TortureProcess(const std::string& folder, std::uint64_t seed, std::uint64_t round);
  ~TortureProcess();
  TortureProcess(const TortureProcess&) = delete;
  TortureProcess& operator=(const TortureProcess&) = delete;

  /// The next message; nullopt on timeout or after the last one: has_ended() tells which.
  std::optional<Message> next(std::chrono::microseconds patience);
  /// It closed its end of the pipe, and all its messages were read.
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  void kill();
  /// The exit status, or minus the signal that ended it.
  int wait();

 private:
  pid_t pid_ = -1;
  int from_ = -1;
  bool has_ended_ = false;
  MessageBuffer messages_;
};

}  // namespace tamis::cli
