"""Reading ahead, for the loops that numba compiles; imported on first use.

A processor fetches ahead by itself where memory is read in one piece. Loops that take some columns
of several rows in turn are waited for at each piece, unless they ask for the next ones while they
work on these: little by little, since only some dozen requests may be on their way.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

__all__ = ["AHEAD", "soon"]

AHEAD = 64
"""Values of a row that are asked for at a time."""

_LINE = 64  # bytes
_READ, _KEEP, _DATA = 0, 3, 1  # not to write; in all caches; no instructions


@intrinsic
def _prefetch(_: Any, values: Any, start: Any, byte: Any) -> Any:  # noqa: ARG001
    """Ask for the line so many bytes behind the value at `start`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), pointer)
        line = builder.gep(place, [arguments[2]])
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        call = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        builder.call(call, [line, *(ir.Constant(number, each) for each in (_READ, _KEEP, _DATA))])
        return context.get_dummy_value()

    return types.void(values, types.intp, types.intp), generate


@njit(nogil=True)
def soon(values: Any, start: int, count: int) -> None:
    """Ask for `count` values from `start` on, which need not be there: nothing is read."""
    for byte in range(0, count * values.itemsize, _LINE):
        _prefetch(values, start, byte)  # type: ignore[call-arg]  # numba adds the first
