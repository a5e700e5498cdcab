// Options::info_log.
#pragma once

#include <leveldb/env.h>
#include <tamis/environment.h>
#include <tamis/options.h>

#include <string>

namespace tamis::dropin {

/// Writes the events of a store to a program's log.
///
/// Threads: any number, if the logger allows it.
class InfoLog final : public EventListener {
 public:
  /// Null: nothing is written.
  explicit InfoLog(leveldb::Logger* logger) : logger_(logger) {}

  void on_event(const StoreEvent& event) override;
  void opened(const std::string& folder, const Options& options);
  /// A call that has no way to return it failed.
  void failed(const char* call, const Status& why);

 private:
  [[gnu::format(printf, 2, 3)]] void write(const char* format, ...);

  leveldb::Logger* const logger_;
};

}  // namespace tamis::dropin
