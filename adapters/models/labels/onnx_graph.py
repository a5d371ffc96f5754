"""Write a network as an ONNX model: the few messages of its protobuf that a classifier needs.

Field numbers are those of ``onnx.proto3``; onnxruntime checks the result as it loads it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_IR_VERSION, _OPSET = 8, 13
_FLOAT = 1
_INT, _STRING, _INTS = 2, 3, 7
_MORE = 0x80


def ints(name: str, values: Sequence[int]) -> bytes:
    """Return an attribute of whole numbers."""
    listed = b"".join(_number(8, value) for value in values)
    return _part(5, _text(1, name) + listed + _number(20, _INTS))


def integer(name: str, value: int) -> bytes:
    """Return an attribute of one whole number."""
    return _part(5, _text(1, name) + _number(3, value) + _number(20, _INT))


def string(name: str, value: str) -> bytes:
    """Return an attribute of text."""
    return _part(5, _text(1, name) + _text(4, value) + _number(20, _STRING))


class Graph:
    """Collects nodes in order and the numbers that they work with; values are known by name."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._numbers: list[bytes] = []

    def constant(self, values: "np.ndarray") -> str:
        """Keep float32 numbers of any shape; return their name."""
        name = f"w{len(self._numbers)}"
        shape = b"".join(_number(1, length) for length in values.shape)
        kept = values.astype("<f4", order="C").tobytes()
        tensor = shape + _number(2, _FLOAT) + _text(8, name) + _part(9, kept)
        self._numbers.append(_part(5, tensor))
        return name

    def node(self, operator: str, inputs: Sequence[str], *attributes: bytes) -> str:
        """Append an operation; return the name of what comes out of it."""
        name = f"v{len(self._nodes)}"
        taken = b"".join(_text(1, one) for one in inputs)
        node = taken + _text(2, name) + _text(4, operator) + b"".join(attributes)
        self._nodes.append(_part(1, node))
        return name

    def model(self, given: tuple[str, Sequence[int]], wanted: tuple[str, Sequence[int]]) -> bytes:
        """Return the model, from a named input of a shape to a named output of a shape."""
        graph = [*self._nodes, _text(2, "network"), *self._numbers]
        graph += [_part(11, _value(*given)), _part(12, _value(*wanted))]
        opset = _part(8, _number(2, _OPSET))
        return _number(1, _IR_VERSION) + _part(7, b"".join(graph)) + opset


def _value(name: str, shape: Sequence[int]) -> bytes:
    lengths = b"".join(_part(1, _number(1, length)) for length in shape)
    return _text(1, name) + _part(2, _part(1, _number(1, _FLOAT) + _part(2, lengths)))


def _varint(value: int) -> bytes:
    written = bytearray()
    while value >= _MORE:
        written.append(value % _MORE | _MORE)
        value //= _MORE
    written.append(value)
    return bytes(written)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _part(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _text(field: int, content: str) -> bytes:
    return _part(field, content.encode())
