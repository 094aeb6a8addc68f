"""`from grader import draw`: tensors as storages and views, what they share, and how shapes align."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from grader import draw
from grader.drawing.drawing import drawing_of


def test_a_view_is_drawn_on_its_storage(capsys: pytest.CaptureFixture[str]) -> None:
    """Name, dtype, device, contiguity with its reason, shape, strides, offset, and the boxes that are read."""
    x = torch.arange(6).reshape(2, 3)
    draw(x.t()[1:])
    assert capsys.readouterr().out.splitlines() == [
        "x.t()[1:]: int64 on cpu; not contiguous: dim 1 has stride 3, and contiguous strides are (2, 1)",
        "x.t()[1:]: shape (2, 2), strides (1, 3), offset 1",
        "     0     1     2     3     4     5",
        "  ┌─────┬─────┬─────┬─────┬─────┬─────┐",
        "  │     │ 0,0 │ 1,0 │     │ 0,1 │ 1,1 │",
        "  └─────┴─────┴─────┴─────┴─────┴─────┘",
    ]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (lambda x: x.t(), "x and y have all 6 elements of memory in common: writing into one changes the other."),
        (
            lambda x: x[0],
            "x and y have 3 elements of memory in common, of 6 of x and 3 of y: writing there changes both.",
        ),
        (lambda x: x.clone(), "x and y share no memory: writing into one does not change the other."),
        (
            lambda x: x.numpy()[1, 1:],
            "x and y have 2 elements of memory in common, of 6 of x and 2 of y: writing there changes both.",
        ),
    ],
)
def test_what_two_tensors_share(other: object, said: str) -> None:
    """Two tensors share all, some or none of their memory; an array of NumPy's may share it, too."""
    x = torch.arange(6).reshape(2, 3)
    assert callable(other)
    assert drawing_of({"x": x, "y": other(x)}).sentences == (said,)


def test_views_of_one_storage_without_a_common_element() -> None:
    """Two halves of one storage."""
    x = torch.arange(6)
    said = drawing_of({"a": x[:3], "b": x[3:]}).sentences
    assert said == ("a and b are views on the same storage, but no element belongs to both.",)


def test_shapes_are_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    """Shapes alone are drawn, and those of two tensors."""
    draw((3, 1), (4,))
    out = capsys.readouterr().out.splitlines()
    assert out == [
        "shape 1   (3,   1)",
        "shape 2        (4,)",
        "           ~    ~",
        "give      (3,   4)",
        "~ stretched",
    ]
    a, b = torch.ones(2, 3), torch.ones(2)
    draw(a, b)
    assert "! they clash" in capsys.readouterr().out


def test_values_are_drawn_beside_those_expected(capsys: pytest.CaptureFixture[str]) -> None:
    """Wrong elements stand between marks, as below a check that fails."""
    draw(torch.tensor([1, 2, 4]), expected=[1, 2, 3])
    assert "│ 1 │ 2 │>4<│" in capsys.readouterr().out


def test_svg_of_every_element() -> None:
    """A notebook shows an SVG: a cell of the tensor and its place in the storage have the same mark."""
    x = torch.arange(6).reshape(2, 3)
    drawing = drawing_of({"x": x, "y": x.t(), "copy": x.clone()})
    root = ElementTree.fromstring(drawing._repr_svg_())
    places = [cell.attrib["data-place"] for cell in root.iter() if "data-place" in cell.attrib]
    assert places[:6] == ["A0", "A1", "A2", "A3", "A4", "A5"]
    assert places[6:12] == ["A0", "A3", "A1", "A4", "A2", "A5"]
    assert {place[0] for place in places} == {"A", "B"}
    assert "writing into one does not change the other" in drawing._repr_html_()


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor(3.5),
        torch.empty(0, 3),
        torch.ones(2, 3, 4, 5),
        torch.arange(3).expand(1000, 1000, 3),
        torch.eye(3).to_sparse(),
        torch.ones(2, device="meta"),
        torch.tensor([1 + 2j]).conj(),
        torch.ones(2, requires_grad=True) * 2,
        torch.zeros(100_000),
        torch.ones(3, dtype=torch.bfloat16).to(torch.float8_e4m3fn),
        np.zeros((3, 4), dtype=bool)[:, ::-2],
    ],
    ids=lambda value: f"{type(value).__name__}-{value.dtype}",
)
def test_anything_is_drawn(value: object) -> None:
    """Any tensor or array gives lines and a well-formed SVG."""
    drawing = drawing_of({"x": value})
    assert all(len(line) <= 140 for line in drawing.lines())
    if svg := drawing.svg():
        ElementTree.fromstring(svg)


@pytest.mark.filterwarnings("ignore")
def test_a_quantized_tensor_is_drawn_as_what_is_stored() -> None:
    """Its storage has integers. Newer versions of PyTorch warn of such tensors."""
    value = torch._make_per_tensor_quantized_tensor(torch.tensor([7, 9], dtype=torch.uint8), 0.5, 0)
    assert drawing_of({"x": value}).tensors[0].values == ("7", "9")


def test_another_value_is_named() -> None:
    """The error says what draw takes."""
    with pytest.raises(TypeError, match="x is a list; draw takes tensors, NumPy arrays and shapes"):
        drawing_of({"x": [1, 2]})
    with pytest.raises(TypeError, match="but not both at once"):
        drawing_of({"x": torch.ones(2), "y": (2, 3)})
    parts = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
    with pytest.raises(TypeError, match=r"draw one of its parts: x\.unbind\(\)\[0\]"):
        drawing_of({"x": parts})
    with pytest.raises(TypeError, match=r"parts\.grad is a NoneType"):
        draw(parts.grad)
