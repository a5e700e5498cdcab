// Keyspaces are named trees of one store: their own options, one journal. A batch or a snapshot spans all of them.
#include <tamis/db.h>

#include <cstdio>

namespace {

int fail(const tamis::Status& status) {
  std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  tamis::Result<tamis::DB> db = tamis::DB::open(argc > 1 ? argv[1] : "library");
  if (!db.ok()) return fail(db.status());

  tamis::Result<tamis::Keyspace> books =
      db->keyspace("books", {.codec_last = "zstd"});  // Made once; options are stored.
  tamis::Result<tamis::Keyspace> titles = db->keyspace("titles");
  if (!books.ok() || !titles.ok()) return fail(books.ok() ? titles.status() : books.status());

  tamis::Batch batch;  // One commit: the book and its entry in the index, both or neither.
  batch.put(*books, "isbn/0141439513", "Pride and Prejudice");
  batch.put(*titles, "Pride and Prejudice", "isbn/0141439513");
  if (tamis::Status written = db->write(batch); !written.ok()) return fail(written);

  tamis::Iterator found = titles->scan({.prefix = "Pride"});
  for (const auto& [title, isbn] : found) {
    const auto book = books->get(isbn);
    if (!book.ok()) return fail(book.status());
    std::printf("%s\n", book->value_or("not there").c_str());
  }
  if (!found.status().ok()) return fail(found.status());

  for (const tamis::KeyspaceInfo& keyspace : db->keyspaces()) std::printf("%s ", keyspace.name.c_str());
  std::printf("\n");
  if (tamis::Status dropped = db->drop_keyspace("titles"); !dropped.ok()) return fail(dropped);
  std::printf("titles: %s\n", titles->get("Pride and Prejudice").ok() ? "there" : "dropped");
  return 0;
}
