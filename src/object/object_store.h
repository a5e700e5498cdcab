// Objects in a bucket, as a store needs them: whole or in ranges, replaced only on a condition. Not a FileSystem: an
// object is not appended to, renamed or locked. Tests substitute tests/support/memory_object_store.h, whose requests
// can be late, lost or done twice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "tamis/status.h"

namespace tamis {

/// What became of a request.
enum class ObjectAnswer : std::uint8_t {
  kDone,     ///< The server says that it did it.
  kRefused,  ///< The condition did not hold, and nothing changed.
  kAbsent,   ///< There is no such object.
  kUnknown,  ///< It may have been done, or may be done later: no answer came, or one that says nothing of it.
};

/// "done", "refused", "absent", "unknown".
std::string_view to_string(ObjectAnswer answer);

/// A part of an object: bytes [offset, offset + bytes), as many as there are of them.
struct ObjectRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// The answer to a get. `why` is set only if it is kUnknown; the rest only if it is kDone, and not for a range that
/// begins at or behind the end of its object, which has no bytes.
struct ObjectRead {
  ObjectAnswer answer = ObjectAnswer::kUnknown;
  std::string bytes = {};          ///< The object, or the range that was asked for.
  std::string etag = {};           ///< Names the content, for put_if and if_changed.
  std::uint64_t object_bytes = 0;  ///< The size of the whole object.
  std::string why = {};            ///< What happened instead of an answer.
};

/// The answer to a put.
struct ObjectWritten {
  ObjectAnswer answer = ObjectAnswer::kUnknown;
  std::string etag = {};  ///< Of what was written, if kDone.
  std::string why = {};   ///< What happened instead of an answer, if kUnknown.
};

struct ListedObject {
  std::string name;
  std::uint64_t bytes = 0;
  std::string etag;

  bool operator==(const ListedObject&) const = default;
};

/// The answer to a list: kDone or kUnknown.
struct ObjectList {
  ObjectAnswer answer = ObjectAnswer::kUnknown;
  std::vector<ListedObject> objects = {};  ///< In order of their names' bytes, if kDone.
  std::string why = {};                    ///< What happened instead of an answer, if kUnknown.
};

/// The answer to a remove: kDone or kUnknown.
struct ObjectRemoved {
  ObjectAnswer answer = ObjectAnswer::kUnknown;
  std::string why = {};  ///< What happened instead of an answer, if kUnknown.
};

/// The longest name of an object; S3 allows 1,024 bytes with the prefix.
inline constexpr std::size_t kMaxObjectName = 512;

/// Whether a name may be used: 1 to kMaxObjectName bytes of UTF-8 without control characters, in which no part between
/// slashes is "", "." or "..".
bool is_object_name(std::string_view name);

/// The objects under one prefix of a bucket, which names here do not contain. Six verbs.
///
/// A failed Status is not an answer: the request could not be made or was turned away before it changed anything
/// (credentials, rights, no such bucket, TLS, a name that is not allowed). kUnknown is for servers and networks that
/// fail while a request is under way.
///
/// Invariants:
///  1. Reads and lists see every write that was answered with kDone before they began (strong consistency).
///  2. put_new and put_if are sent at most once. Of several under way, at most one is done: conditions are checked by
///     the server, atomically with the write.
///  3. After kUnknown of put_new or put_if only a look at the object tells, and what it shows may still change: a late
///     request is refused only once another write has changed what its condition names. So content that is put on
///     a condition needs something that no other writer writes (a nonce).
///  4. get, list, put and remove are repeated until they are answered or the deadline has passed. After kUnknown, or
///     even kDone, an earlier try of a put or remove may arrive late: they are for names that are written with one
///     content only, and never written again after being removed.
///
/// Threads: any.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  /// The object or a range of it; kAbsent if there is none. With `if_changed`, kRefused if that is still its etag.
  virtual Result<ObjectRead> get(std::string_view name, std::optional<ObjectRange> range,
                                 std::string_view if_changed) = 0;
  Result<ObjectRead> get(std::string_view name) { return get(name, std::nullopt, {}); }

  /// Writes an object that does not exist; kRefused if it does.
  virtual Result<ObjectWritten> put_new(std::string_view name, Bytes bytes) = 0;
  /// Replaces the object that has this etag; kRefused if it has another or does not exist.
  virtual Result<ObjectWritten> put_if(std::string_view name, Bytes bytes, std::string_view etag) = 0;
  /// Writes an object, whether or not it exists.
  virtual Result<ObjectWritten> put(std::string_view name, Bytes bytes) = 0;

  /// The objects whose names begin with `prefix` and come after `after` in byte order. Either may be empty.
  virtual Result<ObjectList> list(std::string_view prefix, std::string_view after) = 0;

  /// Removes the object; kDone also if there was none.
  virtual Result<ObjectRemoved> remove(std::string_view name) = 0;
};

}  // namespace tamis
