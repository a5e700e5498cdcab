// How tamis functions report errors.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tamis/export.h"

namespace tamis {

/// A code tells the caller what to do next; the message says what happened.
enum class StatusCode : std::uint8_t {
  kOk = 0,               ///< Success.
  kInvalidArgument = 1,  ///< Fix the call.
  kNotSupported = 2,     ///< This will never work here; the message names an alternative.
  kBusy = 3,             ///< Try again later.
  kIoError = 4,          ///< Check the machine.
  kOutOfSpace = 5,       ///< Free space, then continue.
  kCorruption = 6,       ///< Restore or repair; the message names file and offset.
  kClosed = 7,           ///< The store was closed, the handle was moved from, or a Progress stopped the task.
  kConflict = 8,         ///< Another write interfered with a transaction; run it again.
  kStale = 9,            ///< A follower could not keep up with its store's writer; call catch_up again.
};

/// The name of the code, e.g. "corruption".
TAMIS_EXPORT std::string_view to_string(StatusCode code);

/// Success, or a code and a message. As small as a pointer; success allocates nothing. A moved-from Status is success.
///
/// Threads: like std::string.
class [[nodiscard]] TAMIS_EXPORT Status {
 public:
  /// Success.
  Status() = default;
  /// An error with this code; success for kOk.
  Status(StatusCode code, std::string message)
      : detail_(code == StatusCode::kOk ? nullptr : std::make_unique<const Detail>(Detail{code, std::move(message)})) {}

  /// Copies code and message.
  Status(const Status& other) : detail_(other.detail_ ? std::make_unique<const Detail>(*other.detail_) : nullptr) {}
  /// Copies code and message.
  Status& operator=(const Status& other) {
    if (this != &other) *this = Status(other);
    return *this;
  }
  /// Moves code and message; the source becomes success.
  Status(Status&&) noexcept = default;
  /// Like the constructor.
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  /// An error with the code of that name, as are the following.
  static Status invalid_argument(std::string m) { return {StatusCode::kInvalidArgument, std::move(m)}; }
  static Status not_supported(std::string m) { return {StatusCode::kNotSupported, std::move(m)}; }  ///< kNotSupported
  static Status busy(std::string m) { return {StatusCode::kBusy, std::move(m)}; }                   ///< kBusy
  static Status io_error(std::string m) { return {StatusCode::kIoError, std::move(m)}; }            ///< kIoError
  static Status out_of_space(std::string m) { return {StatusCode::kOutOfSpace, std::move(m)}; }     ///< kOutOfSpace
  static Status corruption(std::string m) { return {StatusCode::kCorruption, std::move(m)}; }       ///< kCorruption
  static Status closed(std::string m) { return {StatusCode::kClosed, std::move(m)}; }               ///< kClosed
  static Status conflict(std::string m) { return {StatusCode::kConflict, std::move(m)}; }           ///< kConflict
  static Status stale(std::string m) { return {StatusCode::kStale, std::move(m)}; }                 ///< kStale

  /// Whether this is success.
  [[nodiscard]] bool ok() const { return detail_ == nullptr; }
  /// The code; kOk for success.
  [[nodiscard]] StatusCode code() const { return detail_ ? detail_->code : StatusCode::kOk; }
  /// The human-readable message; empty for success. Valid until this status is assigned to.
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

/// A value, or the status that explains its absence. Moving from a Result does not change ok().
///
///     tamis::Result<Filter> filter = Filter::open("words.tamis");
///     if (!filter.ok()) return filter.status();
///     filter->may_contain("zebra");
///
/// Accessing the value of a failed result aborts the program with the message.
template <typename T>
class [[nodiscard]] Result {
 public:
  /// Success with a copy of the value.
  Result(const T& value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  /// Success with the value.
  Result(T&& value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  /// An error; a successful status aborts the program.
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    if (status_.ok()) stop("a Result was made from a successful Status");
  }

  /// Whether there is a value.
  [[nodiscard]] bool ok() const { return value_.has_value(); }
  /// The error; success if there is a value.
  [[nodiscard]] const Status& status() const { return status_; }

  /// The value. Without one, this and the operators below abort the program.
  [[nodiscard]] T& value() & { return need(), *value_; }
  [[nodiscard]] const T& value() const& { return need(), *value_; }      ///< The value.
  [[nodiscard]] T&& value() && { return need(), std::move(*value_); }    ///< The value, moved out.
  [[nodiscard]] T& operator*() & { return value(); }                     ///< The value.
  [[nodiscard]] const T& operator*() const& { return value(); }          ///< The value.
  [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }  ///< The value, moved out.
  [[nodiscard]] T* operator->() { return &value(); }                     ///< A member of the value.
  [[nodiscard]] const T* operator->() const { return &value(); }         ///< A member of the value.

  /// The value, or `fallback` on error. Discards the error.
  ///
  ///     const bool is_known = db.exists("rome").value_or(false);
  template <typename U = T>
  [[nodiscard]] T value_or(U&& fallback) const& {
    return value_.value_or(std::forward<U>(fallback));
  }
  /// Same for a temporary, whose value is moved out.
  template <typename U = T>
  [[nodiscard]] T value_or(U&& fallback) && {
    return std::move(value_).value_or(std::forward<U>(fallback));
  }

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
