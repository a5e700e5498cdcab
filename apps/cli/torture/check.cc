#include "cli/torture/check.h"

#include <fmt/core.h>

#include <algorithm>

namespace tamis::cli {
namespace {

std::string shown(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes.substr(0, 40)) text += byte >= ' ' && byte <= '~' ? byte : '.';
  return fmt::format("'{}{}' ({} bytes)", text, bytes.size() > 40 ? "…" : "", bytes.size());
}

std::string shown_value(const std::optional<std::string>& value) {
  return value ? shown(std::string_view(*value)) : "nothing";
}

}  // namespace

Finding Finding::told(std::string_view doing, const Status& status) {
  return {.kind = Kind::kTold, .what = fmt::format("{}: {}", doing, status.to_text()), .code = status.code()};
}

Finding check_between(const Moment& at_least, const Moment& found, const Moment& at_most) {
  for (std::size_t writer = 0; writer < found.size(); ++writer) {
    if (found[writer] < at_least[writer]) {
      return Finding::wrong(fmt::format("writer {} had {} commits acknowledged, but only {} are there", writer,
                                        at_least[writer], found[writer]));
    }
    if (found[writer] > at_most[writer]) {
      return Finding::wrong(
          fmt::format("writer {} began {} commits, but {} are there", writer, at_most[writer], found[writer]));
    }
  }
  return {};
}

Finding check_value(const TortureScript& script, std::uint32_t writer, std::uint32_t index,
                    const std::optional<std::string>& value, std::uint64_t at_least, std::uint64_t at_most) {
  std::optional<std::string> expected = script.value(writer, index, at_least);
  if (value == expected) return {};
  for (std::uint64_t commits = at_least + 1; commits <= at_most; ++commits) {
    if (script.touches(writer, index, commits) && value == script.value(writer, index, commits)) return {};
  }
  return Finding::wrong(
      fmt::format("{} holds {} after {} commits of its writer, of which {} were acknowledged; it was {}",
                  shown(script.key(writer, index)), shown_value(value), at_most, at_least, shown_value(expected)));
}

Finding verify(const DB& db) {
  const Result<VerifyReport> report = db.verify();
  if (!report.ok()) return Finding::told("verify", report.status());
  if (report->ok()) return {};
  const Problem& problem = report->problems.front();
  return Finding::wrong(fmt::format("verify: {} at {}: {}", problem.file, problem.offset, problem.what));
}

TortureReader::TortureReader(DB& db, const TortureScript& script) : db_(db), script_(script) {
  for (std::uint32_t writer = 0; writer < script.writers(); ++writer) {
    for (std::uint32_t index = 0; index < script.keys(); ++index) {
      Part& part = TortureScript::is_in_second_keyspace(index) ? second_ : default_;
      part.places.push_back({script.key(writer, index), writer, index});
    }
  }
  for (Part* const part : {&default_, &second_}) {
    std::ranges::sort(part->places, {}, &Place::key);
    Result<Keyspace> opened = db.keyspace(part == &second_ ? TortureScript::kSecondKeyspace : "default");
    if (opened.ok()) {
      part->keyspace = *std::move(opened);
    } else {
      opened_ = opened.status();
    }
  }
}

/// The second keyspace is made before the first commit.
Finding TortureReader::check_second(const Moment& moment) const {
  if (opened_.ok()) return {};
  if (opened_.code() != StatusCode::kInvalidArgument) return Finding::told("open of a keyspace", opened_);
  if (std::ranges::all_of(moment, [](std::uint64_t commits) { return commits == 0; })) return {};
  return Finding::wrong("there are commits, but not the keyspace that they write to: " + opened_.to_text());
}

/// A writer without a note has not committed. If a commit is there, so must be all commits before it.
Finding TortureReader::take_notes(std::vector<std::optional<std::string>> notes, Moment& found) const {
  found.assign(script_.writers(), 0);
  std::vector<TortureScript::Note> read(script_.writers());
  for (std::uint32_t writer = 0; writer < script_.writers(); ++writer) {
    if (!notes[writer]) continue;
    const auto note = script_.parse_note(*notes[writer]);
    if (!note) return Finding::wrong(fmt::format("the note of writer {} is {}", writer, shown_value(notes[writer])));
    read[writer] = *note;
    found[writer] = note->commit;
  }
  for (std::uint32_t writer = 0; writer < script_.writers(); ++writer) {
    for (std::uint32_t other = 0; found[writer] > 0 && other < script_.writers(); ++other) {
      if (read[writer].after[other] > found[other]) {
        return Finding::wrong(
            fmt::format("commit {} of writer {} is there, but of the {} commits of writer {} before it only {} are",
                        found[writer], writer, read[writer].after[other], other, found[other]));
      }
    }
  }
  return check_second(found);
}

/// Notes sort before all other keys.
Finding TortureReader::read_notes(Iterator& walk, Moment& found) {
  std::vector<std::optional<std::string>> notes(script_.writers());
  for (std::uint32_t writer = 0; writer < script_.writers(); ++writer) {
    if (!walk.valid() || walk.key() != script_.note_key(writer)) continue;
    notes[writer] = walk.value();
    walk.next();
  }
  if (!walk.status().ok()) return Finding::told("scan", walk.status());
  return take_notes(std::move(notes), found);
}

/// Compares the iterator's position with the expected entry, and passes it.
Finding TortureReader::compare(Iterator& walk, const Place& place, const Moment& moment) {
  ++reads_;
  const std::optional<std::string> expected = script_.value(place.writer, place.index, moment[place.writer]);
  if (!walk.valid() && !walk.status().ok()) return Finding::told("scan", walk.status());
  const bool is_there = walk.valid() && walk.key() == place.key;
  if (is_there != expected.has_value() || (is_there && walk.value() != *expected)) {
    return Finding::wrong(fmt::format("a scan at {} gives {}, expected {} after {} commits of its writer",
                                      shown(place.key), is_there ? shown(walk.value()) : "nothing",
                                      shown_value(expected), moment[place.writer]));
  }
  if (is_there) walk.advance();
  return {};
}

/// From the first key that is no note.
Finding TortureReader::scan_part(const Part& part, Iterator& walk, const Moment& moment) {
  for (const Place& place : part.places) {
    if (Finding finding = compare(walk, place, moment); !finding.is_right()) return finding;
  }
  if (!walk.status().ok()) return Finding::told("scan", walk.status());
  if (walk.valid()) return Finding::wrong(fmt::format("a scan gives {}, which was never written", shown(walk.key())));
  return {};
}

Finding TortureReader::scan(const Snapshot* snapshot, Moment& found) {
  found.clear();
  const Snapshot now = db_.snapshot();  // Two scans of one moment.
  if (snapshot == nullptr) snapshot = &now;
  Iterator walk = db_.scan({.snapshot = snapshot});
  if (Finding finding = read_notes(walk, found); !finding.is_right()) return finding;
  if (Finding finding = scan_part(default_, walk, found); !finding.is_right()) return finding;
  if (!opened_.ok()) return {};  // As checked with the notes.
  Iterator second = second_.keyspace.scan({.snapshot = snapshot});
  return scan_part(second_, second, found);
}

/// Up to the last note.
Finding TortureReader::scan_part_backwards(const Part& part, Iterator& walk, const Moment& moment) {
  for (auto place = part.places.rbegin(); place != part.places.rend(); ++place) {
    if (Finding finding = compare(walk, *place, moment); !finding.is_right()) return finding;
  }
  return {};
}

Finding TortureReader::scan_backwards(const Snapshot* snapshot, const Moment& moment) {
  Iterator second = second_.keyspace.scan({.reverse = true, .snapshot = snapshot});
  if (Finding finding = scan_part_backwards(second_, second, moment); !finding.is_right()) return finding;
  Iterator walk = db_.scan({.reverse = true, .snapshot = snapshot});
  if (Finding finding = scan_part_backwards(default_, walk, moment); !finding.is_right()) return finding;
  for (std::uint32_t writer = script_.writers(); writer > 0; --writer) {
    if (moment[writer - 1] == 0) continue;
    if (!walk.status().ok()) return Finding::told("scan backwards", walk.status());
    if (!walk.valid() || walk.key() != script_.note_key(writer - 1)) {
      return Finding::wrong(fmt::format("a scan backwards misses the note of writer {}", writer - 1));
    }
    walk.previous();
  }
  for (const Iterator* const end : {&walk, &second}) {
    if (!end->status().ok()) return Finding::told("scan backwards", end->status());
    if (end->valid()) return Finding::wrong(fmt::format("a scan backwards gives {}", shown(end->key())));
  }
  return {};
}

Finding TortureReader::scan_prefix(std::uint32_t writer, const Snapshot* snapshot, const Moment& moment) {
  const std::string prefix = script_.prefix(writer);
  for (const Part* const part : {&default_, &second_}) {
    Iterator walk = part->keyspace.scan({.prefix = prefix, .snapshot = snapshot});
    for (const Place& place : part->places) {
      if (place.writer != writer) continue;
      if (Finding finding = compare(walk, place, moment); !finding.is_right()) return finding;
    }
    if (!walk.status().ok()) return Finding::told("scan of a prefix", walk.status());
    if (walk.valid()) return Finding::wrong(fmt::format("a scan of {} gives {}", prefix, shown(walk.key())));
  }
  return {};
}

Finding TortureReader::multi_get(const std::vector<std::uint32_t>& indexes, const Snapshot* snapshot, Moment& found) {
  const Snapshot now = db_.snapshot();  // Two calls at one moment.
  if (snapshot == nullptr) snapshot = &now;
  std::vector<std::string> keys;
  for (std::uint32_t writer = 0; writer < script_.writers(); ++writer) keys.push_back(script_.note_key(writer));
  for (std::uint32_t writer = 0; writer < script_.writers(); ++writer) {
    for (const std::uint32_t index : indexes) keys.push_back(script_.key(writer, index));
  }
  // Every key is asked for in both keyspaces, and is in one at most.
  const std::vector<std::string_view> asked(keys.begin(), keys.end());
  const auto results = db_.multi_get(asked, {.snapshot = snapshot});
  const auto second = second_.keyspace.multi_get(asked, {.snapshot = snapshot});
  reads_ += results.size() + second.size();
  std::vector<std::optional<std::string>> notes;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].ok()) return Finding::told("multi_get", results[i].status());
    if (!second[i].ok()) return Finding::told("multi_get", second[i].status());
    if (i < script_.writers()) notes.push_back(*results[i]);
  }
  if (Finding finding = take_notes(std::move(notes), found); !finding.is_right()) return finding;
  for (std::size_t i = script_.writers(); i < results.size(); ++i) {
    const auto writer = static_cast<std::uint32_t>((i - script_.writers()) / indexes.size());
    const std::uint32_t index = indexes[(i - script_.writers()) % indexes.size()];
    const bool is_second = TortureScript::is_in_second_keyspace(index);
    if ((is_second ? results : second)[i]->has_value()) {
      return Finding::wrong(fmt::format("{} is in the other keyspace", shown(keys[i])));
    }
    Finding finding =
        check_value(script_, writer, index, *(is_second ? second : results)[i], found[writer], found[writer]);
    if (!finding.is_right()) return finding;
  }
  return {};
}

Finding TortureReader::get_all(const Snapshot* snapshot, const Moment& moment) {
  Finding told;
  for (const Part* const part : {&default_, &second_}) {
    for (const Place& place : part->places) {
      reads_ += 2;
      const auto value = part->keyspace.get(place.key, {.snapshot = snapshot});
      const auto absent = part->keyspace.get(place.key + "?", {.snapshot = snapshot});
      if (!value.ok()) told = Finding::told("get", value.status());
      if (!absent.ok()) told = Finding::told("get", absent.status());
      if (absent.ok() && *absent) return Finding::wrong(fmt::format("{}? was never written but is there", place.key));
      if (!value.ok()) continue;
      const std::uint64_t commits = moment[place.writer];
      Finding finding = check_value(script_, place.writer, place.index, *value, commits, commits);
      if (!finding.is_right()) return finding;
    }
  }
  return told;
}

}  // namespace tamis::cli
