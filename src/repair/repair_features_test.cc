// What a newer tamis wrote is not damage: repair stops and changes nothing.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "io/file.h"
#include "io/file_names.h"
#include "journal/journal_reader.h"
#include "support/manifest_text.h"
#include "support/repair_world.h"
#include "table/table_builder.h"
#include "tamis/db.h"

namespace tamis {
namespace {

using test::RepairWorld;
using test::SeededRandom;
using test::set_header_byte;

/// The first file of the store with this name's end.
std::string find(RepairWorld& world, std::string_view part) {
  for (const std::string& name : world.names()) {
    if (name.find(part) != std::string::npos) return "/store/" + name;
  }
  ADD_FAILURE() << "no file like " << part;
  return {};
}

/// Appends a valid record of a kind that nobody knows yet to the newest journal.
void append_unknown_record(RepairWorld& world) {
  std::string path;
  for (const std::string& name : world.names()) {
    if (name.ends_with(".journal")) path = "/store/" + name;
  }
  JournalReader reader = *JournalReader::open(world.files, path);
  ASSERT_TRUE(reader.skip_to_end().ok());
  const std::uint64_t end = reader.end().offset;
  const RecordHeader unknown{.kind = static_cast<RecordKind>(9),
                             .payload_bytes = 3,
                             .first_sequence = reader.end().next_sequence,
                             .count = 1,
                             .durable_offset = kJournalHeaderBytes};
  const RecordHeaderBytes record = encode_record_header(unknown, as_bytes("new"), reader.header(), end);
  world.put_file(path, read_whole_file(world.files, path)->substr(0, end) + std::string(as_text(record)) + "new");
}

TEST(RepairOfTheUnknown, StopsAndChangesNothing) {
  constexpr char kUnknown = '\x02';  // Bit 9, in the second byte of a set.
  struct Case {
    const char* what;
    std::function<void(RepairWorld&)> change;
    bool has_manifest = true;
  };
  const std::vector<Case> cases = {
      {"a table's feature", [](RepairWorld& w) { set_header_byte(w.files, find(w, ".tms"), 64, 17, kUnknown); }},
      {"a table's feature, no manifest",
       [](RepairWorld& w) { set_header_byte(w.files, find(w, ".tms"), 64, 17, kUnknown); }, false},
      {"a table's version", [](RepairWorld& w) { set_header_byte(w.files, find(w, ".tms"), 64, 8, 3); }},
      {"a journal's feature",
       [](RepairWorld& w) { set_header_byte(w.files, find(w, ".journal"), 4096, 17, kUnknown); }},
      {"a journal's feature, no manifest",
       [](RepairWorld& w) { set_header_byte(w.files, find(w, ".journal"), 4096, 17, kUnknown); }, false},
      {"a journal's feature for writers, no manifest",
       [](RepairWorld& w) { set_header_byte(w.files, find(w, ".journal"), 4096, 21, kUnknown); }, false},
      {"a record's kind", append_unknown_record},
      {"a record's kind, no manifest", append_unknown_record, false},
      {"the manifest's feature",
       [](RepairWorld& w) { set_header_byte(w.files, find(w, "MANIFEST"), 4096, 17, kUnknown); }},
      {"the manifest's feature for writers",
       [](RepairWorld& w) { set_header_byte(w.files, find(w, "MANIFEST"), 4096, 21, kUnknown); }},
      {"CURRENT's feature", [](RepairWorld& w) { set_header_byte(w.files, find(w, "CURRENT"), 128, 17, kUnknown); }},
      {"CURRENT's feature for writers",
       [](RepairWorld& w) { set_header_byte(w.files, find(w, "CURRENT"), 128, 21, kUnknown); }},
      {"CURRENT's version", [](RepairWorld& w) { set_header_byte(w.files, find(w, "CURRENT"), 128, 8, 1); }},
  };
  for (const Case& unknown : cases) {
    RepairWorld world;
    world.fill("leveled", 600);
    if (!unknown.has_manifest) world.remove_manifest();
    unknown.change(world);
    const auto before = world.all_bytes();
    for (const bool dry_run : {true, false}) {
      const Status status = DB::repair("/store", dry_run, world.environment()).status();
      EXPECT_EQ(status.code(), StatusCode::kNotSupported) << unknown.what << ": " << status.to_text();
    }
    EXPECT_EQ(world.all_bytes(), before) << unknown.what;
  }
}

/// Without a manifest, tables say to which keyspace they belong.
TEST(RepairOfKeyspaces, Rule35_TablesComeBackToTheirKeyspaceByIdAndName) {
  for (const bool has_manifest : {true, false}) {
    RepairWorld world;
    world.fill("leveled", 600);
    SeededRandom random(3);
    std::unique_ptr<Manifest> manifest = *Manifest::open(world.files, "/store", random);
    const std::uint64_t number = manifest->state().reserved_numbers + 5;
    const TableIdentity identity = manifest->state().identity;
    TableSpec spec{.path = table_path("/store", number), .number = number, .identity = identity};
    spec.keyspace = KeyspaceId{4};
    spec.keyspace_name = "users";
    const auto builder = *TableBuilder::create(world.files, spec);
    ASSERT_TRUE(
        builder->add({"key00001", "a user", Sequence{1}, EntryKind::kPut}, KeyHasher(identity.hash_key)("key00001"))
            .ok());
    ManifestEdit edit;
    KeyspaceEdit& users = edit.keyspaces[KeyspaceId{4}];
    users.created = {.name = "users", .options = "codec=none\n"};
    users.shape.added = {{0, number, std::make_shared<const TableFacts>(*builder->finish({}))}};
    edit.reserved_numbers = number + 1;
    ASSERT_TRUE(manifest->commit(edit).ok() && manifest->close({}).ok());
    manifest.reset();
    if (!has_manifest) world.remove_manifest();
    (void)world.repair();
    manifest = *Manifest::open(world.files, "/store", random);
    const ManifestState& state = manifest->state();
    ASSERT_EQ(state.keyspaces.size(), 2U);
    const KeyspaceState& found = state.keyspaces.at(KeyspaceId{4});
    EXPECT_EQ(found.name, "users");
    EXPECT_EQ(found.options, has_manifest ? "codec=none\n" : "");
    EXPECT_TRUE(found.shape.find_table(number).has_value());
    EXPECT_FALSE(state.keyspaces.at(kDefaultKeyspace).shape.find_table(number).has_value());
    EXPECT_EQ(state.next_keyspace, 5U);
    EXPECT_TRUE(state.features.includes(Features::of(Feature::kKeyspaces)));
  }
}

}  // namespace
}  // namespace tamis
