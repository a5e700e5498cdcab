#include "info_log.h"

#include <cstdarg>
#include <string>

namespace tamis::dropin {
namespace {

const char* name_of(StoreEvent::Kind kind) {
  switch (kind) {
    case StoreEvent::Kind::kFlushed: return "flushed";
    case StoreEvent::Kind::kCompacted: return "compacted";
    case StoreEvent::Kind::kMoved: return "moved";
    case StoreEvent::Kind::kStallBegan: return "writes are delayed";
    case StoreEvent::Kind::kStallEnded: return "writes run at full speed again";
    case StoreEvent::Kind::kBackgroundError: return "writes have stopped";
    case StoreEvent::Kind::kResumed: return "writes continue";
    case StoreEvent::Kind::kRecovered: return "recovered";
  }
  return "event";
}

}  // namespace

void InfoLog::on_event(const StoreEvent& event) {
  write("tamis: %s: %llu tables, %llu entries, %llu bytes%s%s", name_of(event.kind),
        static_cast<unsigned long long>(event.tables), static_cast<unsigned long long>(event.entries),
        static_cast<unsigned long long>(event.bytes), event.what.empty() ? "" : "; ", std::string(event.what).c_str());
}

void InfoLog::opened(const std::string& folder, const Options& options) {
  std::string text;
  for (const char* name : {"memory_bytes", "memtable_bytes", "block_bytes", "table_bytes", "codec"}) {
    text.append(" ").append(name).append("=").append(get_option(options, name));
  }
  write("tamis: opened %s with%s", folder.c_str(), text.c_str());
}

void InfoLog::failed(const char* call, const Status& why) { write("tamis: %s: %s", call, why.to_text().c_str()); }

void InfoLog::write(const char* format, ...) {
  if (logger_ == nullptr) return;
  std::va_list arguments;
  va_start(arguments, format);
  logger_->Logv(format, arguments);
  va_end(arguments);
}

}  // namespace tamis::dropin
