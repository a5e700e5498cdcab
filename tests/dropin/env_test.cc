// leveldb::Env::Default() and NewMemEnv. Runs with our library and with LevelDB's.
#include <gtest/gtest.h>
#include <leveldb/env.h>
#include <leveldb/helpers/memenv.h>
#include <leveldb/slice.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "dropin/leveldb_store.h"
#include "support/scratch_folder.h"

namespace tamis::test {
namespace {

using leveldb::Env;
using leveldb::Slice;

/// The Env of the machine, and one in memory.
class LevelDbEnv : public ::testing::TestWithParam<bool> {
 protected:
  LevelDbEnv() { EXPECT_TRUE(env_->CreateDir(folder_).ok()); }
  template <typename File>
  static std::unique_ptr<File> opened(const leveldb::Status& status, File* file) {
    EXPECT_TRUE(status.ok()) << status.ToString();
    return std::unique_ptr<File>(file);
  }
  std::unique_ptr<leveldb::WritableFile> new_file(const std::string& name) {
    leveldb::WritableFile* file = nullptr;
    const leveldb::Status status = env_->NewWritableFile(name, &file);
    return opened(status, file);
  }
  std::string contents(const std::string& name) {
    std::string data;
    EXPECT_TRUE(leveldb::ReadFileToString(env_, name, &data).ok());
    return data;
  }

  ScratchFolder scratch_;
  std::unique_ptr<Env> in_memory_{leveldb::NewMemEnv(Env::Default())};
  Env* env_ = GetParam() ? in_memory_.get() : Env::Default();
  const std::string folder_ = scratch_.path("files");
  const std::string name_ = folder_ + "/file";
};

TEST_P(LevelDbEnv, WritesAndReadsFiles) {
  const std::string large(100'000, 'x');
  {
    const std::unique_ptr<leveldb::WritableFile> file = new_file(name_);
    EXPECT_TRUE(file->Append("hello ").ok());
    EXPECT_TRUE(file->Append("world").ok());
    EXPECT_TRUE(file->Flush().ok());
    EXPECT_TRUE(file->Append(large).ok());
    EXPECT_TRUE(file->Sync().ok());
    EXPECT_TRUE(file->Close().ok());
  }
  EXPECT_EQ(contents(name_), "hello world" + large);
  std::uint64_t bytes = 0;
  EXPECT_TRUE(env_->GetFileSize(name_, &bytes).ok());
  EXPECT_EQ(bytes, 11 + large.size());

  std::string scratch(100, ' ');
  Slice part;
  leveldb::SequentialFile* in_order = nullptr;
  const leveldb::Status in_order_opened = env_->NewSequentialFile(name_, &in_order);
  const auto sequential = opened(in_order_opened, in_order);
  EXPECT_TRUE(sequential->Read(5, &part, scratch.data()).ok());
  EXPECT_EQ(part.ToString(), "hello");
  EXPECT_TRUE(sequential->Skip(1).ok());
  EXPECT_TRUE(sequential->Read(5, &part, scratch.data()).ok());
  EXPECT_EQ(part.ToString(), "world");
  EXPECT_TRUE(sequential->Skip(large.size()).ok());
  EXPECT_TRUE(sequential->Read(5, &part, scratch.data()).ok());
  EXPECT_TRUE(part.empty());

  leveldb::RandomAccessFile* anywhere = nullptr;
  const leveldb::Status anywhere_opened = env_->NewRandomAccessFile(name_, &anywhere);
  const auto random = opened(anywhere_opened, anywhere);
  EXPECT_TRUE(random->Read(6, 5, &part, scratch.data()).ok());
  EXPECT_EQ(part.ToString(), "world");
  EXPECT_TRUE(random->Read(bytes - 2, 2, &part, scratch.data()).ok());
  EXPECT_EQ(part.ToString(), "xx");
}

TEST_P(LevelDbEnv, AppendsToFilesAndReplacesThem) {
  EXPECT_TRUE(leveldb::WriteStringToFile(env_, "one", name_).ok());
  leveldb::WritableFile* file = nullptr;
  const leveldb::Status status = env_->NewAppendableFile(name_, &file);
  {
    const auto more = opened(status, file);
    EXPECT_TRUE(more->Append(" two").ok());
    EXPECT_TRUE(more->Close().ok());
  }
  EXPECT_EQ(contents(name_), "one two");
  EXPECT_TRUE(leveldb::WriteStringToFile(env_, "three", name_).ok());
  EXPECT_EQ(contents(name_), "three");
}

TEST_P(LevelDbEnv, RenamesListsAndRemovesFiles) {
  EXPECT_TRUE(leveldb::WriteStringToFile(env_, "one", name_).ok());
  EXPECT_TRUE(env_->FileExists(name_));
  const std::string other = folder_ + "/other";
  EXPECT_TRUE(env_->RenameFile(name_, other).ok());
  EXPECT_FALSE(env_->FileExists(name_));
  EXPECT_EQ(contents(other), "one");
  std::vector<std::string> names = {"what was here before"};
  EXPECT_TRUE(env_->GetChildren(folder_, &names).ok());
  std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
  EXPECT_EQ(names, std::vector<std::string>{"other"});
  EXPECT_TRUE(env_->RemoveFile(other).ok());
  EXPECT_FALSE(env_->FileExists(other));
  EXPECT_FALSE(env_->RemoveFile(other).ok());
  EXPECT_TRUE(env_->RemoveDir(folder_).ok());
}

TEST_P(LevelDbEnv, AMissingFileIsAnError) {
  leveldb::SequentialFile* in_order = nullptr;
  EXPECT_FALSE(env_->NewSequentialFile(name_, &in_order).ok());
  EXPECT_EQ(in_order, nullptr);
  leveldb::RandomAccessFile* anywhere = nullptr;
  EXPECT_FALSE(env_->NewRandomAccessFile(name_, &anywhere).ok());
  EXPECT_EQ(anywhere, nullptr);
  std::uint64_t bytes = 0;
  EXPECT_FALSE(env_->GetFileSize(name_, &bytes).ok());
  EXPECT_FALSE(env_->RenameFile(name_, name_ + "2").ok());
  std::string data = "before";
  EXPECT_FALSE(leveldb::ReadFileToString(env_, name_, &data).ok());
  EXPECT_EQ(data, "");
}

TEST_P(LevelDbEnv, LocksLogsAndRunsFunctions) {
  leveldb::FileLock* lock = nullptr;
  ASSERT_TRUE(env_->LockFile(folder_ + "/LOCK", &lock).ok());
  EXPECT_TRUE(env_->UnlockFile(lock).ok());
  leveldb::Logger* logger = nullptr;
  ASSERT_TRUE(env_->NewLogger(folder_ + "/LOG", &logger).ok());
  const std::unique_ptr<leveldb::Logger> owned(logger);

  std::atomic<int> calls = 0;
  const auto count = [](void* counter) { ++*static_cast<std::atomic<int>*>(counter); };
  env_->Schedule(count, &calls);
  env_->Schedule(count, &calls);
  env_->StartThread(count, &calls);
  const std::uint64_t before = env_->NowMicros();
  while (calls < 3) env_->SleepForMicroseconds(1000);
  env_->SleepForMicroseconds(1000);
  EXPECT_GE(env_->NowMicros(), before + 1000);
  std::string directory;
  EXPECT_TRUE(env_->GetTestDirectory(&directory).ok());
  EXPECT_NE(directory, "");
}

INSTANTIATE_TEST_SUITE_P(Both, LevelDbEnv, ::testing::Bool(),
                         [](const auto& in_memory) { return in_memory.param ? "InMemory" : "OfTheMachine"; });

TEST(LevelDbMemEnv, AnOpenFileShowsWhatIsWrittenToItsNameAgain) {
  const std::unique_ptr<Env> env(leveldb::NewMemEnv(Env::Default()));
  ASSERT_TRUE(leveldb::WriteStringToFile(env.get(), "before", "file").ok());
  leveldb::RandomAccessFile* opened = nullptr;
  ASSERT_TRUE(env->NewRandomAccessFile("file", &opened).ok());
  const std::unique_ptr<leveldb::RandomAccessFile> file(opened);
  ASSERT_TRUE(leveldb::WriteStringToFile(env.get(), "after", "file").ok());
  Slice part;
  std::string scratch(10, ' ');
  EXPECT_TRUE(file->Read(0, 10, &part, scratch.data()).ok());
  EXPECT_EQ(part.ToString(), "after");
  EXPECT_FALSE(file->Read(100, 10, &part, scratch.data()).ok());
}

TEST(LevelDbPosixEnv, ALockIsHeldOnce) {
  const ScratchFolder folder;
  leveldb::FileLock* lock = nullptr;
  leveldb::FileLock* second = nullptr;
  Env* env = Env::Default();
  ASSERT_TRUE(env->LockFile(folder.path("LOCK"), &lock).ok());
  const leveldb::Status held = env->LockFile(folder.path("LOCK"), &second);
  EXPECT_TRUE(held.ToString().starts_with("IO error: lock ")) << held.ToString();
  EXPECT_EQ(second, nullptr);
  EXPECT_TRUE(env->UnlockFile(lock).ok());
  ASSERT_TRUE(env->LockFile(folder.path("LOCK"), &lock).ok());
  EXPECT_TRUE(env->UnlockFile(lock).ok());
}

/// Passes a line on.
void log_line(leveldb::Logger& logger, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  logger.Logv(format, arguments);
  va_end(arguments);
}

TEST(LevelDbPosixEnv, ALoggerWritesLines) {
  const ScratchFolder folder;
  leveldb::Logger* logger = nullptr;
  ASSERT_TRUE(Env::Default()->NewLogger(folder.path("LOG"), &logger).ok());
  log_line(*logger, "one %d", 1);
  log_line(*logger, "two\n");
  log_line(*logger, "%s", std::string(2000, 'x').append("\n").c_str());
  delete logger;
  std::string text;
  ASSERT_TRUE(leveldb::ReadFileToString(Env::Default(), folder.path("LOG"), &text).ok());
  EXPECT_NE(text.find(" one 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" two\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(std::string(2000, 'x') + "\n")) << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);
}

/// An Env that overrides nothing that it need not.
class OldEnv : public leveldb::EnvWrapper {
 public:
  OldEnv() : EnvWrapper(Env::Default()) {}
  leveldb::Status RemoveFile(const std::string& name) override {
    removed += name;
    return leveldb::Status::OK();
  }
  leveldb::Status RemoveDir(const std::string& name) override {
    removed += name;
    return leveldb::Status::OK();
  }

  std::string removed;
};

TEST(LevelDbEnvs, TheOldNamesOfRemovalsCallTheNew) {
  OldEnv env;
  Env& as_env = env;
  EXPECT_TRUE(as_env.DeleteFile("file ").ok());
  EXPECT_TRUE(as_env.DeleteDir("folder").ok());
  EXPECT_EQ(env.removed, "file folder");
  leveldb::WritableFile* file = nullptr;
  EXPECT_TRUE(env.Env::NewAppendableFile("file", &file).IsNotSupportedError());
}

class LevelDbInMemory : public LevelDbStore {};

TEST_F(LevelDbInMemory, ADatabaseLivesAsLongAsItsEnv) {
  const std::unique_ptr<Env> env(leveldb::NewMemEnv(Env::Default()));
  options_.env = env.get();
  must_open();
  put("a", "1");
  must_open();
  EXPECT_EQ(all(), "a=1 ");
  EXPECT_FALSE(Env::Default()->FileExists(name_));
  const std::string first = std::exchange(name_, "another");
  must_open();
  EXPECT_EQ(all(), "");
  name_ = first;
  must_open();
  EXPECT_EQ(all(), "a=1 ");
  db_.reset();
  EXPECT_TRUE(leveldb::DestroyDB(name_, options_).ok());
  must_open();
  EXPECT_EQ(all(), "");
  db_.reset();
}

}  // namespace
}  // namespace tamis::test
