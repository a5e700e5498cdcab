"""Stores, keyspaces and snapshots."""
from __future__ import annotations

import functools
import json
import os
from typing import Any, Callable, Iterable, Mapping

from .changes import Batch, Transaction, write_options
from .native import NULL, Conflict, answered, bound, call, ffi, given, lib, made, owned, path_of, report_of, taken_text, view
from .reading import StoreReads

Fold = Callable[[bytes, bytes], "bytes | None"]


class Keyspace(StoreReads):
    """One keyspace of a store: a mapping of bytes to bytes, in the order of the keys. It has no length: counting the
    keys would read all of them. Any number of threads may use it."""

    def put(self, key: bytes, value: bytes, sync: bool = False, expires_in: float | None = None) -> None:
        """Sets the value of a key. With `sync` it survives a crash of the machine."""
        call(lib.tamis_put, self._db, write_options(sync, expires_in), self._keyspace, *given(key), *given(value))

    def delete(self, key: bytes, sync: bool = False) -> None:
        """Removes a key; an absent one is not an error."""
        call(lib.tamis_remove, self._db, write_options(sync), self._keyspace, *given(key))

    def __setitem__(self, key: bytes, value: bytes) -> None:
        self.put(key, value)

    def __delitem__(self, key: bytes) -> None:
        self.delete(key)

    def delete_range(self, start: bytes, stop: bytes | None = None, sync: bool = False) -> None:
        """Removes the keys from `start` up to `stop`, exclusive, or to the last."""
        call(lib.tamis_remove_range, self._db, write_options(sync), self._keyspace, *given(start), *bound(stop))

    def merge(self, key: bytes, operand: bytes, sync: bool = False) -> None:
        """Merges an operand into the value of a key by the merge operator, without reading it."""
        call(lib.tamis_merge, self._db, write_options(sync), self._keyspace, *given(key), *given(operand))

    def put_if(self, key: bytes, expected: bytes | None, value: bytes, sync: bool = False) -> bool:
        """Sets the value if it is `expected`; None: if the key is absent. Returns whether it did."""
        return answered("bool", lib.tamis_put_if, self._db, write_options(sync), self._keyspace, *given(key),
                        *bound(expected), *given(value))

    def delete_if(self, key: bytes, expected: bytes, sync: bool = False) -> bool:
        """Removes the key if its value is `expected`. Returns whether it did."""
        return answered("bool", lib.tamis_remove_if, self._db, write_options(sync), self._keyspace, *given(key),
                        *given(expected))

    def update(self, entries: Mapping[bytes, bytes] | Iterable[tuple[bytes, bytes]], sync: bool = False) -> None:
        """Puts all entries, atomically."""
        batch = Batch(self._db, sync)
        pairs = entries.items() if isinstance(entries, Mapping) else entries
        for key, value in pairs:
            lib.tamis_batch_put(batch._batch, self._keyspace, *given(key), *given(value))
        batch.write()

    def compact(self, start: bytes | None = None, stop: bytes | None = None) -> None:
        """Rewrites a range into the last level."""
        call(lib.tamis_compact, self._db, self._keyspace, *bound(start), *bound(stop), NULL, NULL)


class Snapshot(StoreReads):
    """A store as it was: reads as of that moment. Ends with `close` or a `with` statement."""

    def __init__(self, db: Any):
        super().__init__(db, NULL, owned("snapshot", lib.tamis_snapshot_create(db)))

    def keyspace(self, keyspace: Keyspace) -> StoreReads:
        """A keyspace of the store as of that moment."""
        return StoreReads(self._db, keyspace._keyspace, self._snapshot)

    @property
    def sequence(self) -> int:
        """The number of writes that it sees."""
        return lib.tamis_snapshot_sequence(self._snapshot)

    def close(self) -> None:
        """Releases the snapshot; reads with it then see the store as it is."""
        self._reading = NULL
        ffi.release(self._snapshot)
        self._snapshot = NULL

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Store(Keyspace):
    """A store in a folder, and its default keyspace. Made by `open`."""

    def keyspace(self, name: bytes, **options: object) -> Keyspace:
        """Opens the keyspace of this name; makes it if there is none. The options are stored with it."""
        given_options = owned("keyspace_options", lib.tamis_keyspace_options_create())
        for option, value in options.items():
            call(lib.tamis_keyspace_options_set, given_options, option.encode(), str(value).encode())
        return Keyspace(self._db, made("keyspace", lib.tamis_keyspace_open, self._db, *given(name), given_options))

    def drop_keyspace(self, name: bytes) -> None:
        """Drops a keyspace and all it holds."""
        call(lib.tamis_keyspace_drop, self._db, *given(name))

    def keyspaces(self) -> list[bytes]:
        """The names of all keyspaces, the default one first."""
        names = owned("values", lib.tamis_values_create())
        lib.tamis_keyspace_names(self._db, names)
        return [view(lib.tamis_values_get, names, i) or b"" for i in range(lib.tamis_values_count(names))]

    def keyspace_stats(self) -> list[dict[str, Any]]:
        """Name, options and sizes of each keyspace."""
        return json.loads(taken_text(lib.tamis_keyspaces_json(self._db)))

    def snapshot(self) -> Snapshot:
        """The store as of now."""
        return Snapshot(self._db)

    def batch(self, sync: bool = False) -> Batch:
        """An empty batch."""
        return Batch(self._db, sync)

    def transaction(self, snapshot_isolation: bool = False, sync: bool = False) -> Transaction:
        """Begins a transaction as of now."""
        options = owned("transaction_options", lib.tamis_transaction_options_create())
        lib.tamis_transaction_options_set_isolation(options, int(snapshot_isolation))
        return Transaction(owned("transaction", lib.tamis_begin(self._db, options)), sync=sync)

    def transact(self, work: Callable[[Transaction], Any], tries: int = 100, sync: bool = False) -> Any:
        """Runs `work` in a transaction, commits it and returns what it returned; on Conflict again, in a new one."""
        while True:
            try:
                with self.transaction(sync=sync) as transaction:
                    result = work(transaction)
                return result
            except Conflict:
                tries -= 1
                if tries <= 0:
                    raise

    def sync(self) -> None:
        """Makes all earlier writes durable."""
        call(lib.tamis_sync, self._db)

    def flush(self) -> None:
        """Writes the memtables to tables."""
        call(lib.tamis_flush, self._db)

    def wait_idle(self) -> None:
        """Waits until no flush or compaction is due or running."""
        call(lib.tamis_wait_idle, self._db)

    def set_option(self, name: str, value: str | int) -> None:
        """Changes memory_bytes or filter_memory of the open store."""
        call(lib.tamis_set_option, self._db, name.encode(), str(value).encode())

    def resume(self) -> None:
        """Resumes writes once the cause of a background error is gone."""
        call(lib.tamis_resume, self._db)

    def catch_up(self) -> int:
        """Of a follower: shows what the writer has committed since. Returns the number of writes."""
        return answered("uint64_t", lib.tamis_catch_up, self._db)

    def checkpoint(self, path: str | os.PathLike[str]) -> None:
        """Copies the store into a folder that must not exist."""
        call(lib.tamis_checkpoint, self._db, path_of(path))

    def verify(self) -> dict[str, Any]:
        """Reads every byte and reports the damage."""
        place = ffi.new("tamis_report_t**")
        call(lib.tamis_verify, self._db, NULL, NULL, NULL, place)
        return report_of(owned("report", place[0]))

    def stats(self) -> dict[str, Any]:
        """Counters and current state."""
        return report_of(owned("report", lib.tamis_stats(self._db)))

    def plan(self) -> dict[str, Any]:
        """The filter plan."""
        return report_of(owned("report", lib.tamis_plan(self._db, NULL)))

    def close(self) -> None:
        """Closes the store. Raises Busy while iterators, snapshots or transactions are alive."""
        call(lib.tamis_close, self._db)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def fold_callback(fold: Fold) -> Any:
    """A merge operator in Python as a function in C. An exception in it is a fold that failed."""

    @ffi.callback("tamis_fold_t", error=False)
    def call_fold(_: Any, older: Any, older_size: int, newer: Any, newer_size: int, result: Any) -> bool:
        folded = fold(ffi.buffer(older, older_size)[:], ffi.buffer(newer, newer_size)[:])
        if folded is None:
            return False
        lib.tamis_bytes_append(result, *given(folded))
        return True

    return call_fold


def free_store(callbacks: list[Any], handle: Any) -> None:
    """Frees a store, and after it the functions that it calls."""
    lib.tamis_db_free(handle)
    callbacks.clear()


def open(path: str | os.PathLike[str], *, create_if_missing: bool = True, error_if_exists: bool = False,
         read_only: bool = False, follows: bool = False, merge_operators: Mapping[str, Fold] | None = None,
         **options: object) -> Store:
    """Opens or makes the store in a folder. The options are those of docs/OPTIONS.md, such as memory_bytes="1GiB".

    A merge operator of `merge_operators` gets a value and an operand and returns the new value, or None if it cannot.
    A store that has one must be closed before the program ends."""
    chosen = owned("options", lib.tamis_options_create())
    lib.tamis_options_set_create_if_missing(chosen, create_if_missing)
    lib.tamis_options_set_error_if_exists(chosen, error_if_exists)
    lib.tamis_options_set_read_only(chosen, read_only)
    lib.tamis_options_set_follows(chosen, follows)
    for option, value in options.items():
        call(lib.tamis_options_set, chosen, option.encode(), str(value).encode())
    callbacks = []
    for name, fold in (merge_operators or {}).items():
        callbacks.append(fold_callback(fold))
        lib.tamis_options_add_merge_operator(chosen, name.encode(), callbacks[-1], NULL, NULL)
    place = ffi.new("tamis_t**")
    call(lib.tamis_open, path_of(path), chosen, place)
    return Store(ffi.gc(place[0], functools.partial(free_store, callbacks)), NULL)


def repair(path: str | os.PathLike[str], dry_run: bool = False) -> dict[str, Any]:
    """Makes a damaged store usable and reports what was lost; with `dry_run`, it only reports."""
    place = ffi.new("tamis_report_t**")
    call(lib.tamis_repair_store, path_of(path), dry_run, NULL, NULL, place)
    return report_of(owned("report", place[0]))


def destroy(path: str | os.PathLike[str]) -> None:
    """Removes the files of a store that nobody has open."""
    call(lib.tamis_destroy_store, path_of(path))
