"""Sizes, strides and offsets beside torch's, for random chains of views and for what is computed of them."""

from __future__ import annotations

import itertools

import torch
from hypothesis import given
from hypothesis import strategies as st

from analyzers.ops.layout import Layout, pieces, produced, viewed


def layout_of(tensor: torch.Tensor) -> Layout:
    return Layout(tuple(tensor.shape), tensor.stride(), tensor.storage_offset())


@st.composite
def steps(draw: st.DrawFn, tensor: torch.Tensor) -> tuple[str, dict[str, object], torch.Tensor]:
    """A view of `tensor`: the operator, its arguments, the result."""
    rank = tensor.dim()
    names = ["unsqueeze", "squeeze", "expand", "permute", "as_strided"]
    if rank:
        names += ["transpose", "select", "slice", "slice", "unfold", "squeeze_dim", "view"]
    if rank >= 2:
        names += ["t", "diagonal", "transpose"]
    name = draw(st.sampled_from(names))
    dim = draw(st.integers(-rank, rank - 1)) if rank else 0
    size = tensor.size(dim) if rank else 0
    match name:
        case "unsqueeze":
            at = draw(st.integers(-rank - 1, rank))
            return name, {"dim": at}, tensor.unsqueeze(at)
        case "squeeze_dim":
            return "squeeze", {"dim": dim}, tensor.squeeze(dim)
        case "expand":
            sizes = [draw(st.sampled_from([n, 3])) if n == 1 else n for n in tensor.shape]
            more = draw(st.lists(st.sampled_from([1, 2]), max_size=1))
            return name, {}, tensor.expand([*more, *sizes])
        case "permute":
            order = tuple(draw(st.permutations(range(rank))))
            return name, {"dims": order}, tensor.permute(order)
        case "as_strided":
            return name, {"size": (2, 2), "stride": (1, 0), "storage_offset": 1}, tensor.as_strided((2, 2), (1, 0), 1)
        case "transpose":
            other = draw(st.integers(-rank, rank - 1))
            return name, {"dim0": dim, "dim1": other}, tensor.transpose(dim, other)
        case "select" if size:
            index = draw(st.integers(-size, size - 1))
            return name, {"dim": dim, "index": index}, tensor.select(dim, index)
        case "slice":
            start, end = draw(st.integers(-3, 4)), draw(st.integers(-3, 4))
            step = draw(st.integers(1, 2))
            made = torch.ops.aten.slice(tensor, dim, start, end, step)
            return name, {"dim": dim, "start": start, "end": end, "step": step}, made
        case "unfold" if size >= 2:
            return name, {"dimension": dim, "size": 2, "step": 1}, tensor.unfold(dim, 2, 1)
        case "view":
            for shape in ((-1,), (2, -1), (*tensor.shape[:-1], 1, tensor.shape[-1])):
                try:
                    return name, {}, tensor.view(shape)
                except RuntimeError:
                    continue
        case "t" if rank == 2:
            return name, {}, tensor.t()
        case "diagonal" if rank >= 2:
            shift = draw(st.integers(-1, 1))
            return name, {"offset": shift, "dim1": 0, "dim2": -1}, tensor.diagonal(shift, 0, -1)
        case "squeeze":
            return name, {}, tensor.squeeze()
    return "detach", {}, tensor.detach()


@st.composite
def chains(draw: st.DrawFn) -> list[tuple[str, dict[str, object], torch.Tensor]]:
    """A tensor and views upon views of it."""
    shape = draw(st.lists(st.integers(1, 4), max_size=3))
    made: list[tuple[str, dict[str, object], torch.Tensor]] = [("", {}, torch.zeros([*shape, 8])[..., :4])]
    for _ in range(draw(st.integers(1, 4))):
        made.append(draw(steps(made[-1][2])))
    return made


@given(chains())
def test_views(chain: list[tuple[str, dict[str, object], torch.Tensor]]) -> None:
    for (_, _, before), (name, args, after) in itertools.pairwise(chain):
        assert viewed(name, layout_of(before), args, tuple(after.shape)) == layout_of(after), name


@given(chains())
def test_contiguous(chain: list[tuple[str, dict[str, object], torch.Tensor]]) -> None:
    for _, _, tensor in chain:
        assert layout_of(tensor).contiguous == tensor.is_contiguous()


@given(chains())
def test_writes_in_place_are_refused_where_torch_refuses_them(
    chain: list[tuple[str, dict[str, object], torch.Tensor]],
) -> None:
    tensor = chain[-1][2]
    assert layout_of(tensor).overlaps_itself == _refuses(lambda: tensor.add_(1)) or tensor.numel() < 2


@given(chains(), chains())
def test_operands_that_overlap_in_part(
    first: list[tuple[str, dict[str, object], torch.Tensor]], second: list[tuple[str, dict[str, object], torch.Tensor]]
) -> None:
    tensor = first[-1][2]
    memory = tensor.as_strided((16,), (1,), 0) if tensor.untyped_storage().nbytes() >= 64 else None
    if memory is None or layout_of(tensor).overlaps_itself:
        return
    for _, _, model in second:
        if model.shape != tensor.shape or model.untyped_storage().nbytes() > memory.untyped_storage().nbytes():
            continue
        other = memory.as_strided(model.shape, model.stride(), model.storage_offset())
        assert (layout_of(tensor).overlap(layout_of(other)) == "partial") == _refuses(lambda o=other: tensor.mul_(o))


@given(st.data(), chains())
def test_elementwise_results_keep_the_order_of_dimensions(
    data: st.DataObject, chain: list[tuple[str, dict[str, object], torch.Tensor]]
) -> None:
    tensor = chain[-1][2]
    if tensor.numel() == 0:
        return
    others = [torch.ones(()), tensor.clone(), torch.zeros(tensor.shape), torch.zeros(tensor.shape[-1:])]
    for first, second in itertools.permutations([tensor, data.draw(st.sampled_from(others))]):
        summed = first + second
        assert produced("add", tuple(summed.shape), [layout_of(first), layout_of(second)]) == layout_of(summed)
    assert produced("exp", tuple(tensor.shape), [layout_of(tensor)]) == layout_of(tensor.exp())
    assert produced("clone", tuple(tensor.shape), [layout_of(tensor)]) == layout_of(tensor.clone())


@given(chains(), st.integers(1, 3))
def test_pieces(chain: list[tuple[str, dict[str, object], torch.Tensor]], count: int) -> None:
    tensor = chain[-1][2]
    for dim in range(tensor.dim()):
        made = tensor.split(count, dim)
        assert pieces("split", layout_of(tensor), {"dim": dim}, [tuple(t.shape) for t in made]) == [
            layout_of(t) for t in made
        ]
        rows = tensor.unbind(dim)
        assert pieces("unbind", layout_of(tensor), {"dim": dim}, [tuple(t.shape) for t in rows]) == [
            layout_of(t) for t in rows
        ]


def _refuses(run) -> bool:  # type: ignore[no-untyped-def]
    try:
        run()
    except RuntimeError as error:
        return "unsupported operation" in str(error)
    return False
