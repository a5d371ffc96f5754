import io
import pickle
import struct
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muniment.adapters.models.labels.state_file import MOST_BYTES, read_state
from muniment.store.errors import DamageError

MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
SIX = np.arange(6, dtype="<f4")


class Named:
    """Pickles as a name of a module, whatever it is."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name


class Storage:
    def __init__(self, key: str, kind: str = "FloatStorage") -> None:
        self.key, self.kind = key, kind


class Tensor:
    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments


_PICKLER: Any = pickle._Pickler  # in Python: it writes any name


class Writer(_PICKLER):  # type: ignore[misc]  # known as anything
    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if isinstance(obj, Named):
            self.write(f"c{obj.module}\n{obj.name}\n".encode())
        elif isinstance(obj, Tensor):
            self.save(Named("torch._utils", "_rebuild_tensor_v2"))
            self.save(obj.arguments)
            self.write(b"R")
        elif isinstance(obj, Storage):
            self.save(("storage", Named("torch", obj.kind), obj.key, "cpu", 6, None))
            self.write(b"Q")
        else:
            super().save(obj, save_persistent_id)


def pickled(value: Any) -> bytes:
    buffer = io.BytesIO()
    Writer(buffer, 2).dump(value)
    return buffer.getvalue()


def state(tensors: Any, numbers: bytes | None = None, keys: Any = ("a",)) -> bytes:
    kept = struct.pack("<q", len(SIX)) + SIX.tobytes() if numbers is None else numbers
    heads: tuple[Any, ...] = (MAGIC, PROTOCOL, {}, tensors, list(keys))
    return b"".join(pickled(head) for head in heads) + kept


def one(*shape: Any, offset: Any = 0, steps: Any = None, kind: str = "FloatStorage") -> Any:
    return OrderedDict(w=Tensor(Storage("a", kind), offset, shape, steps or (1,) * len(shape)))


def test_tensors_are_read_by_their_steps() -> None:
    read = read_state(state(one(3, 2, steps=(1, 3))))

    assert read["w"].tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]


def test_a_tensor_can_not_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        read_state(state(one(6)))["w"][0] = 1


@pytest.mark.parametrize(
    "name",
    [
        ("os", "system"),
        ("builtins", "eval"),
        ("torch", "load"),
        ("torch._utils", "_rebuild_tensor"),
    ],
)
def test_a_pickle_that_names_anything_else_is_refused_before_it_is_called(
    name: tuple[str, str], tmp_path: Path
) -> None:
    told = tmp_path / "told"
    module, function = name
    call = f"c{module}\n{function}\n(V/bin/touch {told}\ntR.".encode()

    with pytest.raises(DamageError, match=f"asks for {module}") as caught:
        read_state(call)

    assert caught.value.code == "model_state"
    assert not told.exists()


@pytest.mark.parametrize(
    "tensors",
    [
        one(7),
        one(6, offset=1),
        one(2, 2, steps=(4, 4)),
        one(0),
        one(6, offset=-1),
        one(3, steps=(-1,)),
        one(1.5),
        one(2, 2, steps=(1,)),
        one(1, 1, 1, 1, 1),
        {"w": 1},
        one(6, kind="HalfStorage"),
    ],
)
def test_a_tensor_that_leaves_its_numbers_is_refused(tensors: Any) -> None:
    with pytest.raises(DamageError):
        read_state(state(tensors))


@pytest.mark.parametrize("numbers", [b"", struct.pack("<q", 1 << 60), struct.pack("<q", -1)])
def test_numbers_that_are_not_there_are_not_made_room_for(numbers: bytes) -> None:
    with pytest.raises(DamageError):
        read_state(state(one(6), numbers))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\x80\x02K\x01.", state(one(6))[:-20]])
def test_what_is_no_state_file_is_refused(data: bytes) -> None:
    with pytest.raises(DamageError):
        read_state(data)


def test_a_file_too_large_is_not_read() -> None:
    with pytest.raises(DamageError, match="larger"):
        read_state(bytes(MOST_BYTES + 1))
