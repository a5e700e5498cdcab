#include "support/faulty_file_system.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>

#include "base/try.h"
#include "io/errno_status.h"
#include "support/crash_file_system.h"

namespace tamis {
namespace {

int errno_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::kNoSpace:
    case FaultKind::kNoSpaceAfterwards:
    case FaultKind::kShortWrite: return ENOSPC;
    case FaultKind::kTooManyFiles: return EMFILE;
    case FaultKind::kIoError:
    case FaultKind::kIoErrorAfterwards:
    case FaultKind::kForgottenSync:
    case FaultKind::kForgottenNames: break;
  }
  return EIO;
}

std::string_view to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::kIoError: return "EIO";
    case FaultKind::kIoErrorAfterwards: return "EIO afterwards";
    case FaultKind::kNoSpace: return "ENOSPC";
    case FaultKind::kNoSpaceAfterwards: return "ENOSPC afterwards";
    case FaultKind::kShortWrite: return "short write";
    case FaultKind::kTooManyFiles: return "EMFILE";
    case FaultKind::kForgottenSync: return "forgotten sync";
    case FaultKind::kForgottenNames: return "forgotten names";
  }
  return "unknown";
}

bool is_afterwards(FaultKind kind) {
  return kind == FaultKind::kIoErrorAfterwards || kind == FaultKind::kNoSpaceAfterwards;
}

Status injected(const std::string& path, FaultKind kind) {
  return errno_status(path, "injected fault", errno_of(kind));
}

/// The pieces' first half, by bytes.
std::vector<Bytes> first_half(std::span<const Bytes> pieces) {
  std::size_t total = 0;
  for (const Bytes piece : pieces) total += piece.size();
  std::size_t left = total / 2;
  std::vector<Bytes> half;
  for (const Bytes piece : pieces) {
    half.push_back(piece.first(std::min(left, piece.size())));
    left -= half.back().size();
  }
  return half;
}

}  // namespace

std::string to_text(const Fault& fault) {
  return fmt::format("{} at call {}{}", to_string(fault.kind), fault.at_call,
                     fault.sticky ? " and all later ones" : "");
}

class FaultyReadableFile final : public ReadableFile {
 public:
  FaultyReadableFile(FaultyFileSystem& files, std::unique_ptr<ReadableFile> file, std::string path)
      : files_(files), file_(std::move(file)), path_(std::move(path)) {}

  Result<std::size_t> read_at(std::uint64_t offset, MutableBytes to) const override {
    return files_.run(FaultyFileSystem::Call::kRead, path_, [&] { return file_->read_at(offset, to); });
  }
  [[nodiscard]] Result<std::uint64_t> size() const override {
    return files_.run(FaultyFileSystem::Call::kRead, path_, [&] { return file_->size(); });
  }

 private:
  FaultyFileSystem& files_;
  const std::unique_ptr<ReadableFile> file_;
  const std::string path_;
};

/// A failing store: a page of the window is unavailable.
class FaultyFileWindow final : public FileWindow {
 public:
  FaultyFileWindow(FaultyFileSystem& files, std::unique_ptr<FileWindow> window, std::string path)
      : FileWindow(window->begin(), window->bytes()),
        files_(files),
        window_(std::move(window)),
        path_(std::move(path)) {}

  Status copy_in(std::uint64_t offset, std::span<const Bytes> pieces) override {
    const std::optional<FaultKind> fault = files_.enter(FaultyFileSystem::Call::kWrite);
    if (!fault) return window_->copy_in(offset, pieces);
    if (fault == FaultKind::kShortWrite) TAMIS_TRY_STATUS(window_->copy_in(offset, first_half(pieces)));
    if (is_afterwards(*fault)) TAMIS_TRY_STATUS(window_->copy_in(offset, pieces));
    return injected(path_, *fault);
  }
  void look_again() override { window_->look_again(); }

 private:
  FaultyFileSystem& files_;
  const std::unique_ptr<FileWindow> window_;
  const std::string path_;
};

class FaultyWritableFile final : public WritableFile {
 public:
  using Call = FaultyFileSystem::Call;

  FaultyWritableFile(FaultyFileSystem& files, std::unique_ptr<WritableFile> file, std::string path)
      : files_(files), file_(std::move(file)), path_(std::move(path)) {}

  Status write_at(std::uint64_t offset, std::span<const Bytes> pieces) override {
    const std::optional<FaultKind> fault = files_.enter(Call::kWrite);
    if (!fault) return file_->write_at(offset, pieces);
    if (fault == FaultKind::kShortWrite) TAMIS_TRY_STATUS(file_->write_at(offset, first_half(pieces)));
    if (is_afterwards(*fault)) TAMIS_TRY_STATUS(file_->write_at(offset, pieces));
    return injected(path_, *fault);
  }

  Status sync() override {
    const std::optional<FaultKind> fault = files_.enter(Call::kSync);
    if (!fault) return file_->sync();
    if (fault == FaultKind::kForgottenSync) return {};
    if (is_afterwards(*fault)) {
      TAMIS_TRY_STATUS(file_->sync());
    } else if (auto* memory = dynamic_cast<CrashWritableFile*>(file_.get()); memory != nullptr) {
      memory->fail_sync(files_.calls());
    }
    return injected(path_, *fault);
  }

  Status truncate(std::uint64_t size) override {
    return files_.run(Call::kAllocate, path_, [&] { return file_->truncate(size); });
  }
  Status preallocate(std::uint64_t size) override {
    return files_.run(Call::kAllocate, path_, [&] { return file_->preallocate(size); });
  }
  Result<std::unique_ptr<FileWindow>> open_window(std::uint64_t offset, std::uint64_t bytes) override {
    return files_.run(Call::kAllocate, path_, [&]() -> Result<std::unique_ptr<FileWindow>> {
      TAMIS_TRY(auto window, file_->open_window(offset, bytes));
      return std::unique_ptr<FileWindow>(std::make_unique<FaultyFileWindow>(files_, std::move(window), path_));
    });
  }
  [[nodiscard]] Result<std::uint64_t> size() const override {
    return files_.run(Call::kRead, path_, [&] { return file_->size(); });
  }
  void was_renamed(const std::string& path) override {
    path_ = path;
    file_->was_renamed(path);
  }
  Status close() override {
    return files_.run(Call::kOther, path_, [&] { return file_->close(); });
  }

 private:
  FaultyFileSystem& files_;
  const std::unique_ptr<WritableFile> file_;
  std::string path_;
};

std::optional<FaultKind> FaultyFileSystem::enter(Call call) {
  const MutexLock lock(mutex_);
  ++calls_;
  if (!fault_ || calls_ < fault_->at_call || (calls_ > fault_->at_call && !fault_->sticky)) return std::nullopt;
  const auto applies = [call, kind = fault_->kind] {
    using enum Call;
    switch (kind) {
      case FaultKind::kIoError:
      case FaultKind::kIoErrorAfterwards: return true;
      case FaultKind::kNoSpace:
      case FaultKind::kNoSpaceAfterwards:
        return call == kCreate || call == kWrite || call == kSync || call == kAllocate || call == kNames;
      case FaultKind::kShortWrite: return call == kWrite;
      case FaultKind::kTooManyFiles: return call == kOpen || call == kCreate || call == kSyncNames;
      case FaultKind::kForgottenSync: return call == kSync;
      case FaultKind::kForgottenNames: return call == kSyncNames;
    }
    return false;
  };
  if (!applies()) return std::nullopt;
  ++fired_;
  return fault_->kind;
}

template <typename Action>
auto FaultyFileSystem::run(Call call, const std::string& path, Action action) -> decltype(action()) {
  const std::optional<FaultKind> fault = enter(call);
  if (!fault) return action();
  if (is_afterwards(*fault)) {
    if (auto result = action(); !result.ok()) return result;
  }
  return injected(path, *fault);
}

Result<std::unique_ptr<ReadableFile>> FaultyFileSystem::open_readable(const std::string& path) {
  return run(Call::kOpen, path, [&]() -> Result<std::unique_ptr<ReadableFile>> {
    TAMIS_TRY(auto file, beneath_.open_readable(path));
    return std::unique_ptr<ReadableFile>(std::make_unique<FaultyReadableFile>(*this, std::move(file), path));
  });
}

Result<std::unique_ptr<WritableFile>> FaultyFileSystem::open_writable(const std::string& path, OpenMode mode) {
  const Call call = mode == OpenMode::kExisting ? Call::kOpen : Call::kCreate;
  return run(call, path, [&]() -> Result<std::unique_ptr<WritableFile>> {
    TAMIS_TRY(auto file, beneath_.open_writable(path, mode));
    return std::unique_ptr<WritableFile>(std::make_unique<FaultyWritableFile>(*this, std::move(file), path));
  });
}

Status FaultyFileSystem::sync_directory(const std::string& path) {
  const std::optional<FaultKind> fault = enter(Call::kSyncNames);
  if (!fault) return beneath_.sync_directory(path);
  if (fault == FaultKind::kForgottenNames) return {};
  if (is_afterwards(*fault)) TAMIS_TRY_STATUS(beneath_.sync_directory(path));
  return injected(path, *fault);
}

Status FaultyFileSystem::rename(const std::string& from, const std::string& to) {
  return run(Call::kNames, from, [&] { return beneath_.rename(from, to); });
}

Status FaultyFileSystem::link(const std::string& from, const std::string& to) {
  return run(Call::kNames, from, [&] { return beneath_.link(from, to); });
}

Status FaultyFileSystem::remove(const std::string& path) {
  return run(Call::kOther, path, [&] { return beneath_.remove(path); });
}

Result<std::vector<DirectoryEntry>> FaultyFileSystem::list(const std::string& path) {
  return run(Call::kOpen, path, [&] { return beneath_.list(path); });
}

Status FaultyFileSystem::make_directory(const std::string& path) {
  return run(Call::kNames, path, [&] { return beneath_.make_directory(path); });
}

Result<std::optional<std::uint64_t>> FaultyFileSystem::file_size(const std::string& path) {
  return run(Call::kRead, path, [&] { return beneath_.file_size(path); });
}

Result<std::unique_ptr<FileLock>> FaultyFileSystem::lock(const std::string& path, LockMode mode) {
  return run(Call::kOpen, path, [&] { return beneath_.lock(path, mode); });
}

Result<std::uint64_t> FaultyFileSystem::available_bytes(const std::string& path) {
  return run(Call::kOther, path, [&] { return beneath_.available_bytes(path); });
}

void FaultyFileSystem::heal() {
  const MutexLock lock(mutex_);
  fault_.reset();
}

std::uint64_t FaultyFileSystem::calls() const {
  const MutexLock lock(mutex_);
  return calls_;
}

std::uint64_t FaultyFileSystem::fired() const {
  const MutexLock lock(mutex_);
  return fired_;
}

}  // namespace tamis
