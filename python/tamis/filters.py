"""Filters: small summaries of a set of keys that answer "certainly not" or "maybe"."""
from __future__ import annotations

import json
import os
from typing import Any, Iterable

from .native import Rows, answered, call, ffi, given, lib, made, many, owned, path_of, taken_bytes, taken_text


def filter_options(kind: str, rate: float | None, bits_per_key: float | None, capacity: int, seed: int,
                   prefix_rule: str) -> Any:
    """The options of a filter."""
    options = owned("filter_options", lib.tamis_filter_options_create())
    lib.tamis_filter_options_set_kind(options, kind.encode())
    if rate is not None:
        lib.tamis_filter_options_set_target_rate(options, rate)
    if bits_per_key is not None:
        lib.tamis_filter_options_set_bits_per_key(options, bits_per_key)
    lib.tamis_filter_options_set_capacity(options, capacity)
    lib.tamis_filter_options_set_seed(options, seed)
    call(lib.tamis_filter_options_set_prefix_rule, options, prefix_rule.encode())
    return options


class Filter:
    """An immutable filter. Any number of threads may ask it."""

    def __init__(self, handle: Any):
        self._filter = handle

    @staticmethod
    def build(keys: Iterable[bytes], kind: str = "line", rate: float | None = None, bits_per_key: float | None = None,
              seed: int = 0, prefix_rule: str = "none") -> Filter:
        """A filter of these keys. Give a false-positive rate or a size, or neither: then the rate is 1 %."""
        options = filter_options(kind, rate, bits_per_key, 0, seed, prefix_rule)
        builder = owned("filter_builder", lib.tamis_filter_builder_create(options))
        for key in keys:
            lib.tamis_filter_builder_add(builder, *given(key))
        return Filter(made("filter", lib.tamis_filter_builder_finish, builder))

    @staticmethod
    def build_rows(keys: Any, kind: str = "line", rate: float | None = None, bits_per_key: float | None = None,
                   seed: int = 0, prefix_rule: str = "none") -> Filter:
        """The same for a numpy array, or anything else with a buffer: each item is a key, or each row of a table."""
        rows = Rows(keys)
        builder = owned("filter_builder", lib.tamis_filter_builder_create(
            filter_options(kind, rate, bits_per_key, 0, seed, prefix_rule)))
        lib.tamis_filter_builder_add_rows(builder, rows.count, rows.data, rows.key_size)
        return Filter(made("filter", lib.tamis_filter_builder_finish, builder))

    @staticmethod
    def open(path: str | os.PathLike[str]) -> Filter:
        """Maps and checks a file."""
        return Filter(made("filter", lib.tamis_filter_open, path_of(path)))

    @staticmethod
    def from_bytes(data: bytes) -> Filter:
        """Checks bytes, which are copied."""
        return Filter(made("filter", lib.tamis_filter_from_bytes, *given(data)))

    def __contains__(self, key: bytes) -> bool:
        """False: the key was never added."""
        return lib.tamis_filter_may_contain(self._filter, *given(key))

    def may_contain_prefix(self, prefix: bytes) -> bool:
        """False: no key with this prefix was added. Requires a prefix rule."""
        return lib.tamis_filter_may_contain_prefix(self._filter, *given(prefix))

    def may_contain_many(self, keys: Iterable[bytes]) -> list[bool]:
        """The answers for many keys; faster than one by one."""
        count, pointers, sizes, kept = many(list(keys))
        answers = ffi.new("uint64_t[]", (count + 63) // 64)
        lib.tamis_filter_may_contain_many(self._filter, count, pointers, sizes, answers)
        del kept
        bits = int.from_bytes(ffi.buffer(answers), "little")
        return [bit == "1" for bit in reversed(f"{bits:0{max(count, 1)}b}")][:count]

    def may_contain_rows(self, keys: Any) -> Any:
        """The answers for an array of keys, as for build_rows: a numpy array of bool. Requires numpy."""
        import numpy

        rows = Rows(keys)
        answers = numpy.zeros((rows.count + 63) // 64, dtype="<u8")
        lib.tamis_filter_may_contain_rows(self._filter, rows.count, rows.data, rows.key_size,
                                          ffi.from_buffer("uint64_t[]", answers))
        return numpy.unpackbits(answers.view("u1"), count=rows.count, bitorder="little").view(bool)

    def __bytes__(self) -> bytes:
        """The filter as save writes it."""
        size = ffi.new("size_t*")
        data = lib.tamis_filter_bytes(self._filter, size)
        return ffi.buffer(data, size[0])[:]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the filter to a file, replacing it atomically."""
        call(lib.tamis_filter_save, self._filter, path_of(path))

    def info(self) -> dict[str, Any]:
        """What header and bits reveal."""
        return json.loads(taken_text(lib.tamis_filter_info_json(self._filter)))


class MutableFilter:
    """A filter to which keys can be added and, depending on its kind, from which they can be removed. One thread at a
    time."""

    def __init__(self, kind: str = "scalable", capacity: int = 0, rate: float | None = None,
                 bits_per_key: float | None = None, seed: int = 0, prefix_rule: str = "none"):
        options = filter_options(kind, rate, bits_per_key, capacity, seed, prefix_rule)
        self._filter = made("mutable_filter", lib.tamis_mutable_filter_create, options)

    @staticmethod
    def _of(handle: Any) -> MutableFilter:
        filter = MutableFilter.__new__(MutableFilter)
        filter._filter = handle
        return filter

    @staticmethod
    def open(path: str | os.PathLike[str]) -> MutableFilter:
        """Opens a file of a mutable kind."""
        return MutableFilter._of(made("mutable_filter", lib.tamis_mutable_filter_open, path_of(path)))

    @staticmethod
    def from_bytes(data: bytes) -> MutableFilter:
        """Checks bytes, which are copied."""
        return MutableFilter._of(made("mutable_filter", lib.tamis_mutable_filter_from_bytes, *given(data)))

    def add(self, key: bytes) -> None:
        """Adds a key."""
        call(lib.tamis_mutable_filter_add, self._filter, *given(key))

    def add_rows(self, keys: Any) -> None:
        """Adds an array of keys, as for Filter.build_rows."""
        rows = Rows(keys)
        call(lib.tamis_mutable_filter_add_rows, self._filter, rows.count, rows.data, rows.key_size)

    def remove(self, key: bytes) -> bool:
        """Removes one copy of a key that was added. False if it certainly was not there."""
        return answered("bool", lib.tamis_mutable_filter_remove, self._filter, *given(key))

    def __contains__(self, key: bytes) -> bool:
        """False: the key was never added, or was removed."""
        return lib.tamis_mutable_filter_may_contain(self._filter, *given(key))

    def __ior__(self, other: MutableFilter) -> MutableFilter:
        call(lib.tamis_mutable_filter_merge, self._filter, other._filter)
        return self

    def __iand__(self, other: MutableFilter) -> MutableFilter:
        call(lib.tamis_mutable_filter_intersect, self._filter, other._filter)
        return self

    def __or__(self, other: MutableFilter) -> MutableFilter:
        """The union. Kind, size and seed must be equal."""
        return self.copy().__ior__(other)

    def __and__(self, other: MutableFilter) -> MutableFilter:
        """The intersection: maybe where both answer maybe."""
        return self.copy().__iand__(other)

    def copy(self) -> MutableFilter:
        """A filter of the same keys."""
        return MutableFilter.from_bytes(bytes(self))

    def clear(self) -> None:
        """Removes all keys."""
        lib.tamis_mutable_filter_clear(self._filter)

    def freeze(self) -> Filter:
        """An immutable copy."""
        return Filter(owned("filter", lib.tamis_mutable_filter_freeze(self._filter)))

    def __bytes__(self) -> bytes:
        return bytes(self.freeze())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the filter to a file, replacing it atomically."""
        call(lib.tamis_mutable_filter_save, self._filter, path_of(path))

    def info(self) -> dict[str, Any]:
        """What header and bits reveal."""
        return json.loads(taken_text(lib.tamis_mutable_filter_info_json(self._filter)))


class ForeignFilter:
    """A filter file of another system: docs/FOREIGN.md has the formats. Any number of threads may ask it."""

    def __init__(self, handle: Any):
        self._filter = handle

    @staticmethod
    def _options(format: str | None, bits: int | None, hashes: int | None, column: str | None,
                 row_group: int | None) -> Any:
        options = owned("foreign_options", lib.tamis_foreign_options_create())
        if format is not None:
            lib.tamis_foreign_options_set_format(options, format.encode())
        if bits is not None:
            lib.tamis_foreign_options_set_bits(options, bits)
        if hashes is not None:
            lib.tamis_foreign_options_set_hashes(options, hashes)
        if column is not None:
            lib.tamis_foreign_options_set_column(options, column.encode())
        if row_group is not None:
            lib.tamis_foreign_options_set_row_group(options, row_group)
        return options

    @staticmethod
    def open(path: str | os.PathLike[str], format: str | None = None, bits: int | None = None, hashes: int | None = None,
             column: str | None = None, row_group: int | None = None) -> ForeignFilter:
        """Maps and checks a file. Without a format, it is detected; give what the file lacks."""
        options = ForeignFilter._options(format, bits, hashes, column, row_group)
        return ForeignFilter(made("foreign_filter", lib.tamis_foreign_filter_open, path_of(path), options))

    @staticmethod
    def from_bytes(data: bytes, format: str | None = None, bits: int | None = None, hashes: int | None = None,
                   column: str | None = None, row_group: int | None = None) -> ForeignFilter:
        """Checks bytes, which are copied."""
        options = ForeignFilter._options(format, bits, hashes, column, row_group)
        return ForeignFilter(made("foreign_filter", lib.tamis_foreign_filter_from_bytes, *given(data), options))

    def __contains__(self, key: bytes) -> bool:
        """False: the key was never added."""
        return lib.tamis_foreign_filter_may_contain(self._filter, *given(key))

    def convert_to(self, format: str) -> bytes:
        """A file of another format with the same bits."""
        return taken_bytes(lib.tamis_foreign_filter_convert, self._filter, format.encode()) or b""

    def info(self) -> dict[str, Any]:
        """What header and bits reveal."""
        return json.loads(taken_text(lib.tamis_foreign_filter_info_json(self._filter)))
