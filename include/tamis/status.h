// How a tamis function says that it could not do what was asked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tamis/export.h"

namespace tamis {

/// Few codes, chosen by what the caller does next; the message says what happened.
enum class StatusCode : std::uint8_t {
  kOk = 0,
  kInvalidArgument = 1,  ///< Fix the call.
  kNotSupported = 2,     ///< This will never work here; the message names what does.
  kBusy = 3,             ///< Try again later.
  kIoError = 4,          ///< Look at the machine.
  kOutOfSpace = 5,       ///< Make room, then continue.
  kCorruption = 6,       ///< Restore or repair; the message has file and offset.
  kClosed = 7,           ///< The object this belonged to is gone.
};

/// The code's name as users read it, e.g. "corruption".
TAMIS_EXPORT std::string_view to_string(StatusCode code);

/// Success, or a code and a message. A pointer wide; success allocates nothing.
///
/// Threads: a value; share it as you would share a std::string.
class [[nodiscard]] TAMIS_EXPORT Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message)
      : detail_(code == StatusCode::kOk ? nullptr : std::make_unique<const Detail>(Detail{code, std::move(message)})) {}

  Status(const Status& other) : detail_(other.detail_ ? std::make_unique<const Detail>(*other.detail_) : nullptr) {}
  Status& operator=(const Status& other) {
    if (this != &other) *this = Status(other);
    return *this;
  }
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  static Status invalid_argument(std::string m) { return {StatusCode::kInvalidArgument, std::move(m)}; }
  static Status not_supported(std::string m) { return {StatusCode::kNotSupported, std::move(m)}; }
  static Status busy(std::string m) { return {StatusCode::kBusy, std::move(m)}; }
  static Status io_error(std::string m) { return {StatusCode::kIoError, std::move(m)}; }
  static Status out_of_space(std::string m) { return {StatusCode::kOutOfSpace, std::move(m)}; }
  static Status corruption(std::string m) { return {StatusCode::kCorruption, std::move(m)}; }
  static Status closed(std::string m) { return {StatusCode::kClosed, std::move(m)}; }

  [[nodiscard]] bool ok() const { return detail_ == nullptr; }
  [[nodiscard]] StatusCode code() const { return detail_ ? detail_->code : StatusCode::kOk; }
  /// Empty for success. Lives as long as this status is not assigned to.
  [[nodiscard]] std::string_view message() const {
    return detail_ ? std::string_view(detail_->message) : std::string_view();
  }
  /// "corruption: words.tamis: …", or "ok".
  [[nodiscard]] std::string to_text() const;

 private:
  struct Detail {
    StatusCode code;
    std::string message;
  };
  std::unique_ptr<const Detail> detail_;
};

/// A value, or the status that says why there is none.
///
///     tamis::Result<Filter> filter = Filter::open("words.tamis");
///     if (!filter.ok()) return filter.status();
///     filter->may_contain("zebra");
///
/// Reading the value of a failed result stops the program with the message.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(const T& value) : value_(value) {}             // NOLINT(google-explicit-constructor)
  Result(T&& value) : value_(std::move(value)) {}       // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    if (status_.ok()) stop("a Result was made from a successful Status");
  }

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  [[nodiscard]] const Status& status() const { return status_; }

  [[nodiscard]] T& value() & { return need(), *value_; }
  [[nodiscard]] const T& value() const& { return need(), *value_; }
  [[nodiscard]] T&& value() && { return need(), std::move(*value_); }
  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }
  [[nodiscard]] T* operator->() { return &value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }

 private:
  [[noreturn]] static void stop(std::string_view why);
  void need() const {
    if (!ok()) stop(status_.message());
  }

  std::optional<T> value_;
  Status status_;
};

namespace detail {
[[noreturn]] TAMIS_EXPORT void stop_program(std::string_view why);
}  // namespace detail

template <typename T>
void Result<T>::stop(std::string_view why) {
  detail::stop_program(why);
}

}  // namespace tamis
