// The load on a tortured store: threads that write, read, flush, compact and take checkpoints, all at once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "cli/torture/channel.h"
#include "cli/torture/check.h"
#include "cli/torture/draw.h"
#include "cli/torture/plan.h"
#include "tamis/db.h"

namespace tamis::cli {

/// Runs the threads of a round. Most rounds never end by themselves: the process is killed. Anything wrong is reported
/// and ends the process.
///
/// Invariants: for each writer acknowledged ≤ what any reader finds ≤ begun, if the reader takes the first before it
/// reads and the second after.
class TortureLoad {
 public:
  using Teller = std::function<void(const Message& message)>;

  /// `moment` is what the store holds. Checkpoints go to `checkpoint_path`.
  TortureLoad(DB& db, const RoundPlan& plan, const TortureScript& script, const Moment& moment,
              std::string checkpoint_path, Teller teller);

  /// Returns once every writer has made its commits, in a round that ends by itself.
  void run(std::uint64_t seed);

 private:
  void write(std::uint32_t writer, std::uint64_t seed);
  void read(std::uint64_t seed);
  void maintain(std::uint64_t seed);
  void make_checkpoint();
  void verify();
  Status write_once(Draw& draw, const Batch& batch, bool& is_synced);
  Finding read_once(TortureReader& reader, Draw& draw);
  Finding read_snapshot(TortureReader& reader, Draw& draw);

  void need(const Status& status, std::string_view doing) {
    need(status.ok() ? Finding() : Finding::told(doing, status));
  }
  void need(const Finding& finding);
  [[nodiscard]] Moment acknowledged() const;
  [[nodiscard]] Moment begun() const;

  DB& db_;
  const RoundPlan& plan_;
  const TortureScript& script_;
  const std::string checkpoint_path_;
  const Teller teller_;
  // Each is written by its writer and read by all.
  std::array<std::atomic<std::uint64_t>, TortureScript::kMaxWriters> begun_ = {};
  std::array<std::atomic<std::uint64_t>, TortureScript::kMaxWriters> acknowledged_ = {};
  std::atomic<bool> is_over_ = false;
};

}  // namespace tamis::cli
