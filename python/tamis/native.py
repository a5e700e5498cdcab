"""The C API: declarations, errors, bytes. cffi releases the interpreter's lock during each call."""
from __future__ import annotations

import array
import itertools
import json
import os
import pathlib
from typing import Any, Callable

import cffi

ffi = cffi.FFI()
ffi.cdef(pathlib.Path(__file__).with_name("declarations.txt").read_text())
lib: Any = ffi.dlopen(os.environ.get("TAMIS_LIBRARY", "libtamis.so.0"))

NULL = ffi.NULL
NEVER_EXPIRES = 2**63 - 1


class Error(Exception):
    """A call has failed. The subclass says what to do next, the text what happened."""


class InvalidArgument(Error, ValueError):
    """Fix the call."""


class NotSupported(Error):
    """This will never work here; the text names an alternative."""


class Busy(Error):
    """Try again later."""


class InputOutputError(Error, OSError):
    """Check the machine."""


class OutOfSpace(Error, OSError):
    """Free space, then continue."""


class Corruption(Error):
    """Restore or repair; the text names file and offset."""


class Closed(Error):
    """The store was closed, or a progress function stopped the task."""


class Conflict(Error):
    """Another write interfered with a transaction; run it again."""


class Stale(Error):
    """A follower could not keep up; call catch_up again."""


ERRORS = {1: InvalidArgument, 2: NotSupported, 3: Busy, 4: InputOutputError, 5: OutOfSpace, 6: Corruption, 7: Closed,
          8: Conflict, 9: Stale}


def call(function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function whose last parameter is errptr, and raises its error."""
    error = ffi.new("char**")
    code = function(*arguments, error)
    if code != 0:
        raise ERRORS.get(code, Error)(taken_text(error[0]))


def made(kind: str, function: Callable[..., int], *arguments: Any) -> Any:
    """The handle that a function gives through the parameter before errptr; NULL if it gives none. Freed by itself."""
    place = ffi.new(f"tamis_{kind}_t**")
    call(function, *arguments, place)
    return owned(kind, place[0])


def owned(kind: str, handle: Any) -> Any:
    """The handle, freed when nothing refers to it any more."""
    return ffi.gc(handle, getattr(lib, f"tamis_{kind}_free")) if handle != NULL else NULL


def answered(kind: str, function: Callable[..., int], *arguments: Any) -> Any:
    """The number or truth value that a function gives through the parameter before errptr."""
    place = ffi.new(f"{kind}*")
    call(function, *arguments, place)
    return place[0]


def taken_text(text: Any) -> str:
    """A text that the caller frees."""
    if text == NULL:
        return ""
    try:
        return ffi.string(text).decode("utf-8", "replace")
    finally:
        lib.tamis_free(text)


def report_of(report: Any) -> dict[str, Any]:
    """A report, as its JSON says."""
    return json.loads(ffi.string(lib.tamis_report_json(report)).decode("utf-8", "replace"))


def taken_bytes(function: Callable[..., int], *arguments: Any) -> bytes | None:
    """The bytes that a function gives through the two parameters before errptr; None if it gives none."""
    data = ffi.new("char**")
    size = ffi.new("size_t*")
    call(function, *arguments, data, size)
    if data[0] == NULL:
        return None
    try:
        return ffi.buffer(data[0], size[0])[:]
    finally:
        lib.tamis_free(data[0])


def view(function: Callable[..., Any], *arguments: Any) -> bytes | None:
    """A copy of the bytes that a function returns, with their size through its last parameter; None for NULL."""
    size = ffi.new("size_t*")
    data = function(*arguments, size)
    return ffi.buffer(data, size[0])[:] if data != NULL else None


def bound(data: bytes | None) -> tuple[Any, int]:
    """Optional bytes as pointer and size."""
    return (NULL, 0) if data is None else given(data)


def given(data: bytes) -> tuple[Any, int]:
    """Bytes as pointer and size. Text is refused: it has no bytes until it is encoded."""
    return data if type(data) is bytes else ffi.from_buffer(data), len(data)


def many(keys: list[bytes]) -> tuple[int, Any, Any, bytes]:
    """Count, pointers and sizes of keys, and what keeps them alive during the call: a copy of all of them."""
    joined = b"".join(keys)
    sizes = array.array("L", map(len, keys))
    first = int(ffi.cast("uintptr_t", ffi.from_buffer(joined)))
    ends = array.array("L", itertools.accumulate(sizes, initial=first))
    return len(keys), ffi.from_buffer("char*[]", ends), ffi.from_buffer("size_t[]", sizes), joined


class Rows:
    """The keys of an array, one after the other in memory, without a copy: its items, or the rows of a table."""

    def __init__(self, keys: Any):
        table = memoryview(keys)
        if not table.c_contiguous or not 1 <= table.ndim <= 2:
            raise ValueError("keys are the items of a contiguous array, or the rows of a table")
        self.count = table.shape[0]
        self.key_size = table.itemsize * (table.shape[1] if table.ndim == 2 else 1)
        self.data = ffi.from_buffer(table)


def path_of(path: str | os.PathLike[str]) -> bytes:
    """A path as the machine names it."""
    return os.fsencode(path)
