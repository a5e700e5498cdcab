// What the page asks about a store, as JSON.
#pragma once

#include <string>

#include "tamis/db.h"
#include "web/answer.h"

namespace tamis::web {

/// Reads a followed store. Before each answer it catches up with the writer, so that an answer is what the command
/// would print now.
///
/// Threads: any number.
class StoreApi {
 public:
  /// `name` is shown as the store's.
  StoreApi(DB db, std::string name) : db_(std::move(db)), name_(std::move(name)) {}

  /// `path` is "/api/stats" or another; 404 for one that there is not. Errors are {"error": …}.
  [[nodiscard]] Answer answer(const std::string& path, const Parameters& parameters);

 private:
  [[nodiscard]] std::string body_of(const std::string& path, const Parameters& parameters);
  [[nodiscard]] std::string about() const;
  [[nodiscard]] std::string stats() const;
  [[nodiscard]] std::string tree() const;
  [[nodiscard]] std::string plan(const Parameters& parameters) const;
  [[nodiscard]] std::string explain(const Parameters& parameters);

  DB db_;
  const std::string name_;
};

}  // namespace tamis::web
