#include "capi/options.h"

#include <algorithm>
#include <utility>

#include "capi/status.h"

using namespace tamis;
using namespace tamis::capi;

static_assert(TAMIS_NEVER_EXPIRES == kNeverExpires.count());
static_assert(TAMIS_EVENT_FLUSHED == static_cast<int>(StoreEvent::Kind::kFlushed));
static_assert(TAMIS_EVENT_COMPACTED == static_cast<int>(StoreEvent::Kind::kCompacted));
static_assert(TAMIS_EVENT_MOVED == static_cast<int>(StoreEvent::Kind::kMoved));
static_assert(TAMIS_EVENT_STALL_BEGAN == static_cast<int>(StoreEvent::Kind::kStallBegan));
static_assert(TAMIS_EVENT_STALL_ENDED == static_cast<int>(StoreEvent::Kind::kStallEnded));
static_assert(TAMIS_EVENT_BACKGROUND_ERROR == static_cast<int>(StoreEvent::Kind::kBackgroundError));
static_assert(TAMIS_EVENT_RESUMED == static_cast<int>(StoreEvent::Kind::kResumed));
static_assert(TAMIS_EVENT_RECOVERED == static_cast<int>(StoreEvent::Kind::kRecovered));

struct tamis_event {
  const StoreEvent& event;
};

namespace {

/// What a program passes to its own function. Copies share it; the last one frees it.
using Context = std::shared_ptr<void>;

Context shared_context(void* context, void (*free_context)(void*)) {
  return {context, [free_context](void* last) {
            if (free_context != nullptr) free_context(last);
          }};
}

/// Calls a function of the program for each event.
class Listener final : public EventListener {
 public:
  Listener(tamis_listener_t listener, Context context) : listener_(listener), context_(std::move(context)) {}

  void on_event(const StoreEvent& event) override {
    const tamis_event shown{event};
    listener_(context_.get(), &shown);
  }

 private:
  tamis_listener_t listener_;
  Context context_;
};

}  // namespace

const char* tamis_option_name(size_t index, size_t* size) { return give_name(option_table(), index, size); }

tamis_options_t* tamis_options_create() { return make<tamis_options>(); }
void tamis_options_free(tamis_options_t* options) { delete options; }
tamis_code_t tamis_options_set(tamis_options_t* options, const char* name, const char* value, char** errptr) {
  return answer(errptr, [&] { return set_option(options->options, name, value); });
}
tamis_code_t tamis_options_set_number(tamis_options_t* options, const char* name, uint64_t value, char** errptr) {
  return answer(errptr, [&] { return set_option(options->options, name, std::to_string(value)); });
}
char* tamis_options_get(const tamis_options_t* options, const char* name) {
  return never_throws([&]() -> char* {
    const auto is_it = [&](const OptionInfo& option) { return option.name == name; };
    if (!std::ranges::any_of(option_table(), is_it)) return nullptr;
    return give_text(get_option(options->options, name));
  });
}
void tamis_options_set_create_if_missing(tamis_options_t* options, bool creates) {
  options->options.create_if_missing = creates;
}
void tamis_options_set_error_if_exists(tamis_options_t* options, bool fails) {
  options->options.error_if_exists = fails;
}
void tamis_options_set_read_only(tamis_options_t* options, bool reads_only) { options->options.read_only = reads_only; }
void tamis_options_set_follows(tamis_options_t* options, bool follows) { options->options.follows = follows; }

void tamis_options_add_merge_operator(tamis_options_t* options, const char* name, tamis_fold_t fold, void* context,
                                      void (*free_context)(void* context)) {
  never_throws([&] {
    const auto call = [fold, shared = shared_context(context, free_context)](
                          std::string_view older, std::string_view newer, std::string& result) {
      tamis_bytes bytes{result};
      return fold(shared.get(), older.data(), older.size(), newer.data(), newer.size(), &bytes);
    };
    options->options.merge_operators.push_back({.name = name, .fold = call});
  });
}

tamis_event_kind_t tamis_event_kind(const tamis_event_t* event) {
  return static_cast<tamis_event_kind_t>(event->event.kind);
}
uint64_t tamis_event_tables(const tamis_event_t* event) { return event->event.tables; }
uint64_t tamis_event_entries(const tamis_event_t* event) { return event->event.entries; }
uint64_t tamis_event_bytes(const tamis_event_t* event) { return event->event.bytes; }
const char* tamis_event_what(const tamis_event_t* event, size_t* size) { return give_view(event->event.what, size); }
void tamis_options_set_listener(tamis_options_t* options, tamis_listener_t listener, void* context,
                                void (*free_context)(void* context)) {
  never_throws(
      [&] { options->listener = std::make_shared<Listener>(listener, shared_context(context, free_context)); });
}

tamis_keyspace_options_t* tamis_keyspace_options_create() { return make<tamis_keyspace_options>(); }
void tamis_keyspace_options_free(tamis_keyspace_options_t* options) { delete options; }
tamis_code_t tamis_keyspace_options_set(tamis_keyspace_options_t* options, const char* name, const char* value,
                                        char** errptr) {
  return answer(errptr, [&] { return set_keyspace_option(options->options, name, value); });
}
