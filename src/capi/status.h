// What all functions of the C API share: error texts, bytes in, bytes out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/never_throws.h"
#include "tamis/c/status.h"
#include "tamis/status.h"

struct tamis_bytes {
  std::string& text;
};

struct tamis_values {
  std::vector<std::optional<std::string>> values;
};

struct tamis_report {
  std::string text;
  std::string json;
  std::string prometheus = {};  // Of statistics.
};

namespace tamis::capi {

/// The code of a status; its text goes to `*errptr`.
tamis_code_t give_status(const Status& status, char** errptr) noexcept;

/// Runs a call that returns a Status, and returns that. Nothing throws.
template <typename Call>
tamis_code_t answer(char** errptr, Call call) noexcept {
  return give_status(call(), errptr);
}

/// Moves the value of a result to `to`, if there is somewhere to move it.
template <typename T>
Status take(Result<T> result, T* to) {
  if (result.ok() && to != nullptr) *to = std::move(result.value());
  return result.status();
}

/// The same for a handle that holds the value.
template <typename Handle, typename T>
Status take_handle(Result<T> result, Handle** handle) {
  *handle = result.ok() ? new Handle{std::move(result.value())} : nullptr;
  return result.status();
}

/// A new handle.
template <typename Handle, typename... Parts>
Handle* make(Parts&&... parts) {
  return never_throws([&] { return new Handle{std::forward<Parts>(parts)...}; });
}

inline std::string_view bytes_of(const char* data, std::size_t size) { return {data, size}; }

inline std::optional<std::string_view> bytes_or_none(const char* data, std::size_t size) {
  if (data == nullptr) return std::nullopt;
  return std::string_view(data, size);
}

/// Key `i` of those that lie one after the other.
inline std::string_view row_of(const void* rows, std::size_t key_size, std::size_t i) {
  return {static_cast<const char*>(rows) + i * key_size, key_size};
}

/// Views of `count` keys.
std::vector<std::string_view> views_of(std::size_t count, const char* const* keys, const std::size_t* key_sizes);

inline const char* give_view(std::string_view view, std::size_t* size) {
  *size = view.size();
  return view.data();
}

/// Name `index` of a table of the library, NULL after the last.
template <typename Table>
const char* give_name(const Table& table, std::size_t index, std::size_t* size) {
  return index < table.size() ? give_view(table[index].name, size) : give_view({}, size);
}

/// A copy that ends with a zero byte; NULL without memory.
char* give_text(std::string_view text);

/// A copy, never NULL on success. `size` may be NULL.
Status give_bytes(std::string_view bytes, char** copy, std::size_t* size);

}  // namespace tamis::capi
