"""Batches and transactions."""
from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from .native import NEVER_EXPIRES, NULL, answered, bound, call, given, lib, made, many, owned, taken_bytes
from .reading import Reads, scan_options

if TYPE_CHECKING:
    from .store import Keyspace


def write_options(sync: bool = False, expires_in: float | None = None) -> Any:
    """The options of a write; `expires_in` are seconds."""
    if not sync and expires_in is None:
        return NULL
    options = owned("write_options", lib.tamis_write_options_create())
    lib.tamis_write_options_set_sync(options, sync)
    if expires_in is not None:
        lib.tamis_write_options_set_expires_in_ms(options, milliseconds(expires_in))
    return options


def milliseconds(seconds: float) -> int:
    """Rounded up; float("inf") is never."""
    return NEVER_EXPIRES if seconds == float("inf") else -int(-seconds * 1000 // 1)


class Batch:
    """Changes that are written together when a `with` statement ends without an exception, or by `write`. One thread at
    a time."""

    def __init__(self, db: Any, sync: bool = False):
        self._db = db
        self._sync = sync
        self._batch = owned("batch", lib.tamis_batch_create())

    def put(self, key: bytes, value: bytes, keyspace: Keyspace | None = None, expires_in: float | None = None) -> None:
        """Adds a put."""
        within = NULL if keyspace is None else keyspace._keyspace
        lifetime = 0 if expires_in is None else milliseconds(expires_in)
        lib.tamis_batch_put_expiring_in(self._batch, within, *given(key), *given(value), lifetime)

    def delete(self, key: bytes, keyspace: Keyspace | None = None) -> None:
        """Adds a remove."""
        lib.tamis_batch_remove(self._batch, NULL if keyspace is None else keyspace._keyspace, *given(key))

    def delete_range(self, start: bytes, stop: bytes | None = None, keyspace: Keyspace | None = None) -> None:
        """Adds a remove of a range."""
        within = NULL if keyspace is None else keyspace._keyspace
        lib.tamis_batch_remove_range(self._batch, within, *given(start), *bound(stop))

    def merge(self, key: bytes, operand: bytes, keyspace: Keyspace | None = None) -> None:
        """Adds a merge operand."""
        within = NULL if keyspace is None else keyspace._keyspace
        lib.tamis_batch_merge(self._batch, within, *given(key), *given(operand))

    def __len__(self) -> int:
        return lib.tamis_batch_count(self._batch)

    def clear(self) -> None:
        """Drops the changes."""
        lib.tamis_batch_clear(self._batch)

    def write(self) -> None:
        """Writes the changes, all or none, and drops them."""
        call(lib.tamis_write, self._db, write_options(self._sync), self._batch)
        self.clear()

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.write()


class Transaction(Reads):
    """Reads and writes that take effect together. A `with` statement commits at its end, and rolls back on an exception;
    the commit raises Conflict if another write interfered. One thread at a time."""

    def __init__(self, handle: Any, keyspace: Any = NULL, sync: bool = False):
        self._transaction = handle
        self._keyspace = keyspace
        self._sync = sync

    def keyspace(self, keyspace: Keyspace) -> Transaction:
        """The same transaction, for a keyspace."""
        return Transaction(self._transaction, keyspace._keyspace, self._sync)

    def _get(self, key: bytes) -> bytes | None:
        return taken_bytes(lib.tamis_transaction_get, self._transaction, self._keyspace, *given(key))

    def _exists(self, key: bytes) -> bool:
        return answered("bool", lib.tamis_transaction_exists, self._transaction, self._keyspace, *given(key))

    def _multi_get(self, values: Any, keys: list[bytes]) -> None:
        count, pointers, sizes, kept = many(keys)
        call(lib.tamis_transaction_multi_get, self._transaction, self._keyspace, count, pointers, sizes, values)
        del kept

    def _scan(self, prefix: bytes | None, start: bytes | None, stop: bytes | None, reverse: bool) -> Any:
        options = scan_options(prefix, start, stop, reverse, NULL)
        return made("iterator", lib.tamis_transaction_scan, self._transaction, options, self._keyspace)

    def put(self, key: bytes, value: bytes) -> None:
        """Sets the value of a key at commit."""
        call(lib.tamis_transaction_put, self._transaction, self._keyspace, *given(key), *given(value))

    def delete(self, key: bytes) -> None:
        """Removes a key at commit."""
        call(lib.tamis_transaction_remove, self._transaction, self._keyspace, *given(key))

    def __setitem__(self, key: bytes, value: bytes) -> None:
        self.put(key, value)

    def __delitem__(self, key: bytes) -> None:
        self.delete(key)

    def delete_range(self, start: bytes, stop: bytes | None = None) -> None:
        """Removes a range at commit."""
        call(lib.tamis_transaction_remove_range, self._transaction, self._keyspace, *given(start), *bound(stop))

    def merge(self, key: bytes, operand: bytes) -> None:
        """Merges an operand into the value of a key at commit."""
        call(lib.tamis_transaction_merge, self._transaction, self._keyspace, *given(key), *given(operand))

    def savepoint(self) -> int:
        """Marks the writes so far."""
        return answered("uint64_t", lib.tamis_transaction_savepoint, self._transaction)

    def rollback_to(self, savepoint: int) -> None:
        """Drops the writes since the savepoint."""
        call(lib.tamis_transaction_rollback_to, self._transaction, savepoint)

    def commit(self) -> None:
        """Writes the changes; raises Conflict if another write interfered: then nothing was written."""
        call(lib.tamis_transaction_commit, self._transaction, write_options(self._sync))

    def rollback(self) -> None:
        """Drops the changes."""
        call(lib.tamis_transaction_rollback, self._transaction)

    def __enter__(self) -> Transaction:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if not lib.tamis_transaction_is_active(self._transaction):
            return
        if kind is None:
            self.commit()
        else:
            self.rollback()
