// What is used of Redis's module API. A server gives its functions to a module by name when it loads it, so these names
// and types are all that a module needs to be built. They are the same from Redis 7.0 on, and in Valkey.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tamis_redis {

// Opaque: RedisModuleCtx, RedisModuleString and so on.
struct Context;
struct String;
struct Key;
struct Type;
struct Io;
struct Digest;
struct Command;

constexpr int kOk = 0;
constexpr int kError = 1;
constexpr int kApiVersion = 1;
constexpr int kRead = 1;
constexpr int kWrite = 2;
constexpr int kKeyEmpty = 0;
constexpr int kKeyOfModule = 6;
constexpr long kPostponed = -1;            // The length of an array is told later.
constexpr int kSpeaksResp3 = 1 << 22;      // Of GetContextFlags.
constexpr int kHandlesIoErrors = 1;        // Of SetModuleOptions: rdb_load asks IsIOError.
constexpr unsigned kOrdinaryConfig = 0;    // Can be set at any time, and is shown.
constexpr std::uint64_t kTypeMethods = 3;  // The version of TypeMethods.
constexpr std::uint64_t kKeyReadOnly = 1;  // How a command uses its key.
constexpr std::uint64_t kKeyReadWrite = 2;
constexpr std::uint64_t kKeyOverwrite = 4;
constexpr std::uint64_t kKeyAccess = 16;  // What is in the key shows in the reply.
constexpr std::uint64_t kKeyInsert = 64;
constexpr std::uint64_t kKeyDelete = 128;

using CommandFunction = int (*)(Context*, String** arguments, int count);

/// RedisModuleTypeMethods. Those that are null are not called.
struct TypeMethods {
  std::uint64_t version = kTypeMethods;
  void* (*rdb_load)(Io*, int version) = nullptr;
  void (*rdb_save)(Io*, void* value) = nullptr;
  void (*aof_rewrite)(Io*, String* key, void* value) = nullptr;
  std::size_t (*mem_usage)(const void* value) = nullptr;
  void (*digest)(Digest*, void* value) = nullptr;
  void (*free)(void* value) = nullptr;
  int (*aux_load)(Io*, int version, int when) = nullptr;
  void (*aux_save)(Io*, int when) = nullptr;
  int aux_save_triggers = 0;
  std::size_t (*free_effort)(String* key, const void* value) = nullptr;
  void (*unlink)(String* key, const void* value) = nullptr;
  void* (*copy)(String* from, String* to, const void* value) = nullptr;
  int (*defrag)(void* context, String* key, void** value) = nullptr;
};

/// RedisModuleCommandKeySpec: where a command has its keys. Here, at one place. The server's structure has unions for
/// other ways of searching, with room for a pointer and an int.
struct KeySpec {
  const char* notes = nullptr;
  std::uint64_t flags = 0;
  int begin_search = 2;  // At an index; 0 ends a list.
  alignas(void*) int index = 1;
  int unused[3] = {};
  int find_keys = 2;  // In a range: this one alone.
  int last = 0;
  int step = 1;
  int limit = 0;
};

/// RedisModuleCommandInfoVersion: of the structures that CommandInfo leads to.
struct CommandInfoVersion {
  int version;
  std::size_t history_bytes;
  std::size_t key_spec_bytes;
  std::size_t argument_bytes;
};

/// RedisModuleCommandInfo, as COMMAND and ACL show it.
struct CommandInfo {
  const CommandInfoVersion* version;
  const char* summary;
  const char* complexity = nullptr;
  const char* since = nullptr;
  void* history = nullptr;
  const char* tips = nullptr;
  int arity;
  KeySpec* key_specs;
  void* arguments = nullptr;
};

using GetNumber = long long (*)(const char* name, void* data);
using SetNumber = int (*)(const char* name, long long value, void* data, String** error);
using GetText = String* (*)(const char* name, void* data);
using SetText = int (*)(const char* name, String* value, void* data, String** error);
using Apply = int (*)(Context*, void* data, String** error);

// Each is called RedisModule_ and its name.
#define TAMIS_REDIS_FUNCTIONS(X)                                                                                 \
  X(SetModuleAttribs, void, (Context*, const char* name, int version, int api_version))                          \
  X(IsModuleNameBusy, int, (const char* name))                                                                   \
  X(SetModuleOptions, void, (Context*, int options))                                                             \
  X(CreateCommand, int,                                                                                          \
    (Context*, const char* name, CommandFunction, const char* flags, int first, int last, int step))             \
  X(GetCommand, Command*, (Context*, const char* name))                                                          \
  X(SetCommandInfo, int, (Command*, const CommandInfo*))                                                         \
  X(CreateDataType, Type*, (Context*, const char* name, int version, TypeMethods*))                              \
  X(RegisterNumericConfig, int,                                                                                  \
    (Context*, const char* name, long long standard, unsigned flags, long long least, long long most, GetNumber, \
     SetNumber, Apply, void* data))                                                                              \
  X(RegisterStringConfig, int,                                                                                   \
    (Context*, const char* name, const char* standard, unsigned flags, GetText, SetText, Apply, void* data))     \
  X(LoadConfigs, int, (Context*))                                                                                \
  X(AutoMemory, void, (Context*))                                                                                \
  X(Log, void, (Context*, const char* level, const char* format, ...))                                           \
  X(LogIOError, void, (Io*, const char* level, const char* format, ...))                                         \
  X(GetContextFlags, int, (Context*))                                                                            \
  X(WrongArity, int, (Context*))                                                                                 \
  X(ReplyWithError, int, (Context*, const char* text))                                                           \
  X(ReplyWithSimpleString, int, (Context*, const char* text))                                                    \
  X(ReplyWithLongLong, int, (Context*, long long))                                                               \
  X(ReplyWithBool, int, (Context*, int))                                                                         \
  X(ReplyWithNull, int, (Context*))                                                                              \
  X(ReplyWithStringBuffer, int, (Context*, const char* bytes, std::size_t count))                                \
  X(ReplyWithArray, int, (Context*, long length))                                                                \
  X(ReplyWithMap, int, (Context*, long length))                                                                  \
  X(ReplySetArrayLength, void, (Context*, long length))                                                          \
  X(Replicate, int, (Context*, const char* command, const char* format, ...))                                    \
  X(ReplicateVerbatim, int, (Context*))                                                                          \
  X(OpenKey, Key*, (Context*, String * name, int mode))                                                          \
  X(KeyType, int, (Key*))                                                                                        \
  X(ModuleTypeGetType, Type*, (Key*))                                                                            \
  X(ModuleTypeGetValue, void*, (Key*))                                                                           \
  X(ModuleTypeSetValue, int, (Key*, Type*, void* value))                                                         \
  X(StringPtrLen, const char*, (const String*, std::size_t* count))                                              \
  X(StringToLongLong, int, (const String*, long long*))                                                          \
  X(StringToDouble, int, (const String*, double*))                                                               \
  X(CreateString, String*, (Context*, const char* bytes, std::size_t count))                                     \
  X(FreeString, void, (Context*, String*))                                                                       \
  X(Free, void, (void*))                                                                                         \
  X(SaveUnsigned, void, (Io*, std::uint64_t))                                                                    \
  X(LoadUnsigned, std::uint64_t, (Io*))                                                                          \
  X(SaveStringBuffer, void, (Io*, const char* bytes, std::size_t count))                                         \
  X(LoadStringBuffer, char*, (Io*, std::size_t * count))                                                         \
  X(IsIOError, int, (Io*))                                                                                       \
  X(EmitAOF, void, (Io*, const char* command, const char* format, ...))                                          \
  X(DigestAddStringBuffer, void, (Digest*, const char* bytes, std::size_t count))                                \
  X(DigestEndSequence, void, (Digest*))

// Those that a server may lack: of Redis 7.2 and 7.4. Redis 7.0 puts no command of a module into a category.
#define TAMIS_REDIS_NEWER_FUNCTIONS(X)                                \
  X(SetCommandACLCategories, int, (Command*, const char* categories)) \
  X(AddACLCategory, int, (Context*, const char* name))

/// The server's functions. Set by `load_functions`, constant afterwards.
struct ServerFunctions {
#define TAMIS_REDIS_DECLARE(name, result, arguments) result(*name) arguments = nullptr;
  TAMIS_REDIS_FUNCTIONS(TAMIS_REDIS_DECLARE)
  TAMIS_REDIS_NEWER_FUNCTIONS(TAMIS_REDIS_DECLARE)
#undef TAMIS_REDIS_DECLARE
};
inline ServerFunctions redis;

/// Sets `redis`. Null, or the first function that this server must have and has not.
const char* load_functions(Context* context);

}  // namespace tamis_redis
