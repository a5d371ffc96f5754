import numpy as np
import onnxruntime

from muniment.adapters.models.labels.onnx_graph import Graph, integer, ints, string


def test_a_written_graph_is_run_as_it_was_meant() -> None:
    graph = Graph()
    bounds = [graph.constant(np.array(bound)) for bound in (0.0, 6.0)]
    filters = graph.constant(np.ones((2, 1, 3, 3)))
    shift = graph.constant(np.array([0.0, -100.0]))
    same = string("auto_pad", "SAME_UPPER")
    made = graph.node(
        "Conv", ["x", filters, shift], same, ints("strides", [2, 2]), integer("group", 2)
    )
    clipped = graph.node("Clip", [made, *bounds])

    session = onnxruntime.InferenceSession(
        graph.model(("x", (1, 2, 4, 4)), (clipped, (1, 2, 2, 2))),
        providers=["CPUExecutionProvider"],
    )
    (out,) = session.run(None, {"x": np.full((1, 2, 4, 4), 0.5, np.float32)})

    # An even side is padded after its end, as the network was trained.
    assert out[0, 0].tolist() == [[4.5, 3.0], [3.0, 2.0]]
    assert out[0, 1].max() == 0.0


def test_lengths_over_a_byte_are_written_in_several() -> None:
    graph = Graph()
    layer = graph.constant(np.eye(300))
    made = graph.node("Gemm", ["x", layer, graph.constant(np.zeros(300))], integer("transB", 1))

    session = onnxruntime.InferenceSession(
        graph.model(("x", (1, 300)), (made, (1, 300))), providers=["CPUExecutionProvider"]
    )
    given = np.arange(300, dtype=np.float32)[None]

    assert session.run(None, {"x": given})[0].tolist() == given.tolist()
