"""Read the tensors of a PyTorch state file without PyTorch, trusting nothing that it says.

The format is that of before 1.6: five pickles, then the numbers of each storage. Pickles may name
three things and no others, so that loading one runs nothing.
"""

import pickle
import struct
from collections import OrderedDict
from collections.abc import Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from muniment.store.errors import DamageError

if TYPE_CHECKING:
    import numpy as np

MOST_BYTES = 64 * 1024 * 1024
_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
_MOST_AXES = 4
_LENGTH = struct.Struct("<q")
_KINDS = {"FloatStorage": "<f4", "LongStorage": "<i8"}


class _Tensor(NamedTuple):
    """Where a tensor's numbers are: counts and steps are in numbers, not in bytes."""

    storage: tuple[str, str]
    offset: int
    shape: tuple[int, ...]
    steps: tuple[int, ...]


def read_state(data: bytes) -> "dict[str, np.ndarray]":
    """Return the tensors by name, as views of the data.

    Raises ``DamageError`` for whatever is no such file, asks for anything else, or is too large.
    """
    if len(data) > MOST_BYTES:
        raise _damaged("it is larger than a model of this kind")
    try:
        return _read(BytesIO(data))
    except DamageError:
        raise
    except Exception as error:  # a pickle that is none fails in any way it likes
        raise _damaged(f"{type(error).__name__}: {error}") from error


def _read(stream: BytesIO) -> "dict[str, np.ndarray]":
    if (_unpickled(stream), _unpickled(stream)) != (_MAGIC, _PROTOCOL):
        raise _damaged("it does not begin like one")
    _unpickled(stream)
    named, keys = _unpickled(stream), _unpickled(stream)
    if not isinstance(named, OrderedDict) or not isinstance(keys, list):
        raise _damaged("it holds no tensors")
    kinds = {tensor.storage[1]: tensor.storage[0] for tensor in named.values()}
    numbers = {key: _storage(stream, kinds[key]) for key in keys}
    return {name: _array(tensor, numbers) for name, tensor in named.items()}


def _storage(stream: BytesIO, kind: str) -> "np.ndarray":
    import numpy as np

    (count,) = _LENGTH.unpack(stream.read(_LENGTH.size))
    start, type_ = stream.tell(), np.dtype(_KINDS[kind])
    whole = stream.getbuffer()
    if not 0 < count <= (len(whole) - start) // type_.itemsize:
        raise _damaged("it breaks off")
    stream.seek(start + count * type_.itemsize)
    return np.frombuffer(whole, type_, count, start)


def _array(tensor: _Tensor, numbers: "Mapping[str, np.ndarray]") -> "np.ndarray":
    """Return a tensor as a view that can't leave its storage."""
    import numpy as np

    held = numbers[tensor.storage[1]]
    asked: list[Any] = [tensor.offset, *tensor.shape, *tensor.steps]
    if not all(isinstance(value, int) and value >= 0 for value in asked):
        raise _damaged("a tensor has a shape that none has")
    if len(tensor.shape) > _MOST_AXES or len(tensor.shape) != len(tensor.steps):
        raise _damaged("a tensor has a shape that none has")
    reach = zip(tensor.shape, tensor.steps, strict=True)
    last = tensor.offset + sum((length - 1) * step for length, step in reach)
    if min(tensor.shape, default=1) == 0 or last >= len(held):
        raise _damaged("a tensor lies outside its numbers")
    steps = [step * held.itemsize for step in tensor.steps]
    return np.lib.stride_tricks.as_strided(
        held[tensor.offset :], tensor.shape, steps, writeable=False
    )


def _tensor(
    storage: tuple[str, str], offset: int, shape: tuple[int, ...], steps: tuple[int, ...], *_: Any
) -> _Tensor:
    return _Tensor(storage, offset, shape, steps)


class _Unpickler(pickle.Unpickler):
    """Knows ordered dictionaries, tensors and their storages; refuses every other name."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if module == "torch" and name in _KINDS:
            return name
        raise _damaged(f"it asks for {module}.{name}")

    def persistent_load(self, pid: Any) -> tuple[str, str]:
        marker, kind, key = pid[:3]
        if marker != "storage" or kind not in _KINDS or not isinstance(key, str):
            raise _damaged("it names something that is no storage")
        return kind, key


def _unpickled(stream: BytesIO) -> Any:
    return _Unpickler(stream).load()


def _damaged(why: str) -> DamageError:
    return DamageError(f"the model's state file can't be used: {why}", code="model_state")
