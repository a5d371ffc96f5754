"""EfficientNet-Lite as an ONNX graph, its batch normalisations folded into its convolutions."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from muniment.adapters.models.labels.onnx_graph import Graph, integer, ints, string

if TYPE_CHECKING:
    import numpy as np

INPUT = "picture"
SIDE = 260
CLASSES = 1_000
_EPSILON = 1e-3
# The blocks of Lite2 that halve the picture, each the first of its stage.
_HALVING = frozenset({1, 4, 7, 15})
_HIGHEST = 6.0


def model_of(state: "Mapping[str, np.ndarray]") -> bytes:
    """Return the network of Lite2's tensors: (1, 3, 260, 260) to 1,000 probabilities.

    Raises ``KeyError`` for a tensor that is not there.
    """
    network = _Network(state)
    value = network.convolution(INPUT, "_conv_stem", "_bn0", stride=2)
    channels, number = len(state["_conv_stem.weight"]), 0
    while f"_blocks.{number}._depthwise_conv.weight" in state:
        stride = 2 if number in _HALVING else 1
        value, channels = network.block(value, channels, f"_blocks.{number}.", stride)
        number += 1
    value = network.convolution(value, "_conv_head", "_bn1")
    return network.ended(value)


class _Network:
    def __init__(self, state: "Mapping[str, np.ndarray]") -> None:
        import numpy as np

        self._state = state
        self._graph = Graph()
        self._lowest = self._graph.constant(np.array(0.0))
        self._highest = self._graph.constant(np.array(_HIGHEST))

    def block(self, value: str, channels: int, prefix: str, stride: int) -> tuple[str, int]:
        """Widen, filter and narrow; add what came in where it has the same shape."""
        came = value
        if f"{prefix}_expand_conv.weight" in self._state:
            value = self.convolution(value, f"{prefix}_expand_conv", f"{prefix}_bn0")
        value = self.convolution(
            value, f"{prefix}_depthwise_conv", f"{prefix}_bn1", stride=stride, apart=True
        )
        value = self.convolution(value, f"{prefix}_project_conv", f"{prefix}_bn2", clipped=False)
        narrow = len(self._state[f"{prefix}_project_conv.weight"])
        if stride == 1 and channels == narrow:
            value = self._graph.node("Add", [value, came])
        return value, narrow

    def convolution(
        self,
        value: str,
        name: str,
        norm: str,
        *,
        stride: int = 1,
        apart: bool = False,
        clipped: bool = True,
    ) -> str:
        """Filter and normalise; ``apart`` keeps the channels to themselves."""
        import numpy as np

        state = self._state
        filters = state[f"{name}.weight"]
        scale = state[f"{norm}.weight"] / np.sqrt(state[f"{norm}.running_var"] + _EPSILON)
        shift = state[f"{norm}.bias"] - state[f"{norm}.running_mean"] * scale
        inputs = [
            value,
            self._graph.constant(filters * scale[:, None, None, None]),
            self._graph.constant(shift),
        ]
        made = self._graph.node(
            "Conv",
            inputs,
            string("auto_pad", "SAME_UPPER"),
            ints("strides", [stride, stride]),
            integer("group", len(filters) if apart else 1),
        )
        if not clipped:
            return made
        return self._graph.node("Clip", [made, self._lowest, self._highest])

    def ended(self, value: str) -> bytes:
        """Add the classifier and write the model."""
        graph = self._graph
        pooled = graph.node("Flatten", [graph.node("GlobalAveragePool", [value])])
        layer = [graph.constant(self._state[f"_fc.{part}"]) for part in ("weight", "bias")]
        scores = graph.node("Gemm", [pooled, *layer], integer("transB", 1))
        shares = graph.node("Softmax", [scores])
        return graph.model((INPUT, (1, 3, SIDE, SIDE)), (shares, (1, CLASSES)))
