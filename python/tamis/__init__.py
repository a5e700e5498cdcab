"""tamis: an embedded key-value store built around filters, and its filters alone.

    with tamis.open("cities") as db:
        db[b"paris"] = b"2102650"
        for key, value in db.items(prefix=b"p"):
            print(key, value)
"""
from .changes import Batch, Transaction
from .filters import Filter, ForeignFilter, MutableFilter
from .native import (Busy, Closed, Conflict, Corruption, Error, InputOutputError, InvalidArgument, NotSupported, OutOfSpace,
                     Stale, ffi, lib)
from .store import Keyspace, Snapshot, Store, destroy, open, repair

__version__: str = ffi.string(lib.tamis_version()).decode()

__all__ = ["Batch", "Busy", "Closed", "Conflict", "Corruption", "Error", "Filter", "ForeignFilter", "InputOutputError",
           "InvalidArgument", "Keyspace", "MutableFilter", "NotSupported", "OutOfSpace", "Snapshot", "Stale", "Store",
           "Transaction", "destroy", "open", "repair"]
