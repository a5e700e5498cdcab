// Shared by tests of manifests: reproducible salts, and a manifest's contents as text to compare.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/random.h"
#include "tree/manifest.h"

namespace tamis::test {

/// Reproducible random numbers for salts.
class SeededRandom final : public RandomSource {
 public:
  explicit SeededRandom(std::uint64_t seed) : random_(seed) {}
  std::uint64_t next() override { return random_.next(); }

 private:
  SplitMix64 random_;
};

/// Everything a manifest says, as text to compare.
struct ManifestText {
  std::string state;
  std::string journal_end;

  friend bool operator==(const ManifestText&, const ManifestText&) = default;
};

inline ManifestText text_of(const ManifestState& state, const KnownJournalEnd& journal_end) {
  std::string text = fmt::format("journal {} reserved {} term {} next keyspace {}\n", state.first_journal,
                                 state.reserved_numbers, state.term, state.next_keyspace);
  for (const auto& [id, keyspace] : state.keyspaces) {
    text += fmt::format("keyspace {} \"{}\" \"{}\" flushed {}\n{}\n", number_of(id), keyspace.name, keyspace.options,
                        keyspace.flushed_sequence, keyspace.shape.to_text());
    for (const auto& level : keyspace.shape.levels) {
      for (const Run& run : level) text += fmt::format("{} {},", run.id, run.bytes());
    }
  }
  text.append(as_text(state.identity.store_id)).append(as_text(state.identity.hash_key));
  return {text, fmt::format("journal {} {:x} {}", journal_end.number, journal_end.salt, journal_end.durable_bytes)};
}

inline ManifestText text_of(const Manifest& manifest) {
  return text_of(manifest.state(), manifest.known_journal_end());
}

}  // namespace tamis::test
