"""What stores, keyspaces, snapshots and transactions have in common: reading by key and in order."""
from __future__ import annotations

from typing import Any, Iterable, Iterator

from .native import NULL, answered, bound, call, given, lib, made, many, owned, report_of, taken_bytes, view


def scan_options(prefix: bytes | None, start: bytes | None, stop: bytes | None, reverse: bool, snapshot: Any) -> Any:
    """The options of a scan."""
    options = owned("scan_options", lib.tamis_scan_options_create())
    if prefix is not None:
        lib.tamis_scan_options_set_prefix(options, *given(prefix))
    if start is not None:
        lib.tamis_scan_options_set_from(options, *given(start))
    if stop is not None:
        lib.tamis_scan_options_set_to(options, *given(stop))
    lib.tamis_scan_options_set_reverse(options, reverse)
    lib.tamis_scan_options_set_snapshot(options, snapshot)
    return options


def entries_of(iterator: Any) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values from where an iterator is."""
    while lib.tamis_iterator_valid(iterator):
        yield view(lib.tamis_iterator_key, iterator) or b"", view(lib.tamis_iterator_value, iterator) or b""
        lib.tamis_iterator_advance(iterator)
    call(lib.tamis_iterator_status, iterator)


class Reads:
    """Reads of the entries of one keyspace. Keys and values are bytes."""

    def _get(self, key: bytes) -> bytes | None:
        raise NotImplementedError

    def _exists(self, key: bytes) -> bool:
        raise NotImplementedError

    def _multi_get(self, values: Any, keys: list[bytes]) -> None:
        raise NotImplementedError

    def _scan(self, prefix: bytes | None, start: bytes | None, stop: bytes | None, reverse: bool) -> Any:
        raise NotImplementedError

    def get(self, key: bytes, default: Any = None) -> Any:
        """The value of a key, or `default` if it is absent."""
        value = self._get(key)
        return default if value is None else value

    def __getitem__(self, key: bytes) -> bytes:
        value = self._get(key)
        if value is None:
            raise KeyError(key)
        return value

    def __contains__(self, key: bytes) -> bool:
        return self._exists(key)

    def multi_get(self, keys: Iterable[bytes]) -> list[bytes | None]:
        """The values of many keys, all as of one moment."""
        values = owned("values", lib.tamis_values_create())
        self._multi_get(values, list(keys))
        return [view(lib.tamis_values_get, values, i) for i in range(lib.tamis_values_count(values))]

    def items(self, prefix: bytes | None = None, start: bytes | None = None, stop: bytes | None = None,
              reverse: bool = False) -> Iterator[tuple[bytes, bytes]]:
        """Keys and values in the order of the keys: those that begin with `prefix`, from `start` up to `stop`, exclusive.
        It sees the store as of its creation."""
        return entries_of(self._scan(prefix, start, stop, reverse))

    def keys(self, prefix: bytes | None = None, start: bytes | None = None, stop: bytes | None = None,
             reverse: bool = False) -> Iterator[bytes]:
        """The keys, as items."""
        return (key for key, _ in self.items(prefix, start, stop, reverse))

    def values(self, prefix: bytes | None = None, start: bytes | None = None, stop: bytes | None = None,
               reverse: bool = False) -> Iterator[bytes]:
        """The values, as items."""
        return (value for _, value in self.items(prefix, start, stop, reverse))

    def __iter__(self) -> Iterator[bytes]:
        return self.keys()


class StoreReads(Reads):
    """Reads of a store at one moment, or now."""

    def __init__(self, db: Any, keyspace: Any, snapshot: Any = NULL):
        self._db = db
        self._keyspace = keyspace
        self._snapshot = snapshot
        self._reading: Any = NULL
        if snapshot != NULL:
            self._reading = owned("read_options", lib.tamis_read_options_create())
            lib.tamis_read_options_set_snapshot(self._reading, snapshot)

    def _get(self, key: bytes) -> bytes | None:
        return taken_bytes(lib.tamis_get, self._db, self._reading, self._keyspace, *given(key))

    def _exists(self, key: bytes) -> bool:
        return answered("bool", lib.tamis_exists, self._db, self._reading, self._keyspace, *given(key))

    def _multi_get(self, values: Any, keys: list[bytes]) -> None:
        count, pointers, sizes, kept = many(keys)
        call(lib.tamis_multi_get, self._db, self._reading, self._keyspace, count, pointers, sizes, values)
        del kept

    def _scan(self, prefix: bytes | None, start: bytes | None, stop: bytes | None, reverse: bool) -> Any:
        options = scan_options(prefix, start, stop, reverse, self._snapshot)
        return made("iterator", lib.tamis_scan, self._db, options, self._keyspace)

    def explain(self, key: bytes) -> dict[str, Any]:
        """Every step of looking up a key, and its cost."""
        return report_of(made("report", lib.tamis_explain, self._db, self._reading, self._keyspace, *given(key)))

    def approximate_size(self, start: bytes | None = None, stop: bytes | None = None) -> int:
        """The bytes of a range in tables."""
        return answered("uint64_t", lib.tamis_approximate_size, self._db, self._keyspace, *bound(start), *bound(stop))
