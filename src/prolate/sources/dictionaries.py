"""Values of Arrow dictionaries, whatever their indices are, and of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["decoded"]


def decoded(values: pa.DictionaryArray | pa.RunEndEncodedArray) -> pa.Array:
    """Return the values that indices or runs stand for; null where an index is outside.

    Nobody checks indices where tables are made or files are mapped, and an error would quote them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> indices, words = pa.array([1, 5, -1, None], pa.int8()), pa.array(["a", "b"])
    >>> decoded(pa.DictionaryArray.from_arrays(indices, words, safe=False)).to_pylist()
    ['b', None, None, None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_run_end_encoded(values.type):  # of any type: Arrow decodes runs of some only
        numbers = pa.array(np.arange(len(values.values)))
        runs = pa.RunEndEncodedArray.from_arrays(values.run_ends, numbers)
        places = pc.run_end_decode(runs.slice(values.offset, len(values)))
        values = pa.DictionaryArray.from_arrays(places, values.values)
    words = values.dictionary
    if words.type in (pa.string_view(), pa.binary_view()):  # Arrow cannot take from these
        kind = pa.large_string() if words.type == pa.string_view() else pa.large_binary()
        values = pa.DictionaryArray.from_arrays(values.indices, words.cast(kind), safe=False)
    try:
        return values.dictionary_decode()
    except (pa.ArrowException, IndexError):
        indices = values.indices.cast(pa.int64(), safe=False)
        inside = pc.and_(pc.greater_equal(indices, 0), pc.less(indices, len(values.dictionary)))
        return values.dictionary.take(pc.if_else(inside, indices, None))
