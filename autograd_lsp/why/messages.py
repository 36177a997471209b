"""Interprets torch's messages: the rule a message belongs to, its numbers, and what torch's own advice is worth.

How such a fault arises is explained on the rule's page, not here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Tells = Callable[[str], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Saying:
    """`words` all occur in the message, in this order. `tells` puts what is special about one message into sentences.

    `advice` pairs what torch may add to the message with what that is worth. `evidence` is what the failing line must
    show one of where the words could be anybody's.
    """

    code: str
    words: tuple[str, ...]
    advice: tuple[tuple[str, str], ...] = ()
    tells: Tells | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """A message, understood."""

    code: str
    message: str
    tells: tuple[str, ...]
    advice: str


def read_message(message: str, below: str = "", line: str = "") -> Reading | None:
    """None for words that are not autograd's. `below` may be the rest of them; `line` is the source that raised."""
    for whole in (message, f"{message} {below}") if below else (message,):
        for saying in SAYINGS:
            if _says(saying, whole) and (not saying.evidence or any(part in line for part in saying.evidence)):
                full = f"{message} {below}" if below else whole
                tells = tuple(saying.tells(full)) if saying.tells is not None else ()
                advice = next((worth for words, worth in saying.advice if words in full), "")
                return Reading(_code(saying, line), whole, tells, advice)
    return None


def find_message(text: str) -> str | None:
    """The last line of a text without tracebacks that has words of autograd's, from those words on."""
    found = ""
    at = -1
    for saying in SAYINGS:
        first = saying.words[0]
        here = text.rfind(first) if not saying.evidence else -1
        if here > at:
            end = min(len(text) if (stop := text.find(sign, here)) < 0 else stop for sign in "\r\n")
            begin = max(text.rfind("\n", 0, here), text.rfind("\r", 0, here)) + 1
            line = text[begin : min(end, begin + 4_000)]
            if _says(saying, line):
                at, found = here, line
    return found or None


def _says(saying: Saying, message: str) -> bool:
    at = 0
    for words in saying.words:
        at = message.find(words, at)
        if at < 0:
            return False
        at += len(words)
    return True


def _code(saying: Saying, line: str) -> str:
    """`retain_grad` is refused alike whether the program calls it or `backward(inputs=...)` does."""
    return "AG113" if saying.code == "AG123" and "inputs" in line else saying.code


_MODIFIED = re.compile(
    r"\[(?P<type>[\w.]{1,80})(?: \[(?P<shape>[\d, ]{0,200})\])?\]"
    r"(?:, which is output (?P<output>\d{1,6}) of (?P<node>\w{1,200}),)?"
    r" is at version (?P<now>\d{1,18}); expected version (?P<then>\d{1,18})"
)


def _modified(message: str) -> Iterator[str]:
    found = _MODIFIED.search(message)
    if found is None:
        return
    shape = f" of shape [{found['shape']}]" if found["shape"] else " of one number" if found["shape"] == "" else ""
    what = f"The tensor is a `{found['type']}`{shape}"
    node = found["node"]
    if node is None:
        yield f"{what} that is not in the graph: a parameter, a buffer or data, not the result of an operator."
    elif _operator(node) == "AsStrided":
        yield f"{what}, a view whose place in the graph torch replaced (`{node}`) because its base was modified."
    else:
        yield f"{what}, output {found['output']} of `{_operator(node)}`."
    then, now = int(found["then"]), int(found["now"])
    if now > then:
        yield f"It was saved at version {then} and is now at version {now}: modified {_times(now - then)} in place."


_INDEX = re.compile(r"(?:index|element) (\d{1,9})")


def _element(message: str) -> Iterator[str]:
    if (found := _INDEX.search(message)) is not None and found[1] != "0":
        yield f"It is tensor number {int(found[1]) + 1} of those that backward was called on, counting from 1."


def _unused(message: str) -> Iterator[str]:
    if (found := _INDEX.search(message)) is not None:
        yield f"It is input number {int(found[1]) + 1}, counting from 1."


_VIEW = re.compile(r"Output (\d{1,9}) of (\w{1,200}) is a view")


def _view(message: str) -> Iterator[str]:
    if (found := _VIEW.search(message)) is not None:
        yield f"The view is output {found[1]} of `{_operator(found[2])}`, counting from 0."
    if "its base or another view of its base" in message:
        yield "The write was not to this view but to its base or to another view of the base; this line only uses it."
    if "returns multiple views" in message:
        yield "It is one of several views made by one call, such as `unbind`, `split`, `chunk` or a loop over a tensor."
    if "inside a custom Function" in message:
        yield "A custom function made it, or returned its input unchanged: return a copy, such as `x.clone()`."
    for mode in ("no_grad", "inference"):
        if f"created in {mode}" in message or f"created in {mode} mode" in message:
            yield f"It was created where gradients are disabled (`{mode}`), and is modified or used where they are on."
            return


_SIZE = r"has a shape of (?:torch\.Size\()?\[([\d, ]{0,200})\]\)?"
_SHAPES = re.compile(rf"grad_output\[(\d{{1,9}})\] {_SIZE} and output\[\d{{1,9}}\] {_SIZE}")


def _shapes(message: str) -> Iterator[str]:
    if (found := _SHAPES.search(message)) is not None:
        yield f"The given gradient has shape [{found[2]}], and the tensor has shape [{found[3]}]."


_COUNTS = re.compile(r"expected (\d{1,9}), got (\d{1,9})")
_INVALID = re.compile(
    r"at index (\d{1,9}) - got \[([\d, ]{0,200})\] but expected shape compatible with \[([\d, ]{0,200})\]"
)


def _contract(message: str) -> Iterator[str]:
    if (found := _COUNTS.search(message)) is not None:
        yield f"`forward` takes {found[1]} arguments besides `ctx`, but `backward` returned {found[2]} gradients."
    if (invalid := _INVALID.search(message)) is not None:
        yield (
            f"Gradient {int(invalid[1]) + 1} of those that `backward` returns has shape [{invalid[2]}], but its input "
            f"has shape [{invalid[3]}]."
        )


def _assigned(message: str) -> Iterator[str]:
    found = re.search(r"cannot assign '([\w.]{1,80})' as parameter '(\w{1,80})'", message)
    if found is not None:
        yield f"The parameter is `{found[2]}`, and the value assigned to it is a `{found[1]}`."


def _complex(message: str) -> Iterator[str]:
    if "but got torch.complex" in message:
        yield "It is a complex number: take its real part or its absolute value before backward."


def _operator(node: str) -> str:
    """`Exp` for `ExpBackward0`: torch has said either."""
    return node[: max(node.rfind("Backward"), 0)] or node


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


_TWICE = (
    (
        "Specify retain_graph=True",
        "Torch advises `retain_graph=True`. That is right only if both passes are meant to go through the same graph. "
        "In a loop it keeps the graphs of all earlier iterations, and fails once an optimizer has changed what they "
        "saved.",
    ),
)
_MODIFIED_SINCE = (
    (
        "enable anomaly detection",
        "Torch advises anomaly detection, which shows the operator that saved the tensor. The fault is a later write, "
        "which it does not show.",
    ),
    (
        "backtrace further above",
        "What anomaly mode shows above is the operator that saved the tensor. The fault is a later write.",
    ),
)
_NUMPY = (
    (
        "Use tensor.detach().numpy()",
        "`detach().numpy()` is right for values that are only inspected: no gradient flows back from anything computed "
        "from them.",
    ),
)
_UNUSED = (
    ("allow_unused=True", "`allow_unused=True` makes the gradient None. It does not add the tensor to the graph."),
)
_COPY = (
    (
        "weight_norm",
        "If `weight_norm` is not used, ignore the remark about it: some attribute holds a computed tensor.",
    ),
)
_DETACH = (
    ("DistributedDataParallel", "The remark about DistributedDataParallel only concerns `detach_()` on gradients."),
)

SAYINGS: tuple[Saying, ...] = (
    Saying("AG101", ("element ", " of tensors does not require grad"), tells=_element),
    Saying("AG101", (" object has no attribute 'backward'",)),
    Saying("AG101", ("'float' object has no attribute 'detach'",)),
    Saying("AG102", ("Trying to backward through the graph a second time",), _TWICE),
    Saying("AG104", ("one of the variables needed for gradient computation has been modified by an inplace operation",),
           _MODIFIED_SINCE, _modified),
    Saying("AG105", ("a leaf Variable that requires grad", "in-place operation")),
    Saying("AG105", ("a view of a leaf Variable that requires grad", "in-place operation")),
    Saying("AG106", ("A view was created in ", "modified inplace"), tells=_view),
    Saying("AG106", ("Output ", " is a view", "modified inplace"), tells=_view),
    Saying("AG107", ("grad can be implicitly created only for ", "scalar outputs"), tells=_complex),
    Saying("AG108", ("Mismatch in shape: grad_output[",), tells=_shapes),
    Saying("AG108", ("attempting to assign a gradient ",)),
    Saying("AG109", ("Can't call numpy() on ", "that requires grad"), _NUMPY),
    Saying("AG110", ("nly Tensors of floating point", "dtype can require gradients")),
    Saying("AG111", ("you can only change requires_grad flags of leaf variables",)),
    Saying("AG112", ("ifferentiated Tensor", "appears to not have been used in the graph"), _UNUSED, _unused),
    Saying("AG113", ("ifferentiated Tensor", "does not require grad")),
    Saying("AG123", ("can't retain_grad on Tensor that has requires_grad=False",)),
    Saying("AG114", ("Inference tensors cannot be saved for backward",)),
    Saying("AG114", ("Inplace update to inference tensor outside InferenceMode is not allowed",)),
    Saying("AG114", ("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed",)),
    Saying("AG114", ("Inference tensors do not track version counter",)),
    Saying("AG115", ("can't optimize a non-leaf Tensor",)),
    Saying("AG115", ("optimizer got an empty parameter list",)),
    Saying("AG115", ("params argument given to the optimizer should be an iterable",)),
    Saying("AG116", ("cannot assign '", "as parameter '"), tells=_assigned),
    Saying("AG116", ("Cannot assign non-leaf Tensor to parameter",)),
    Saying("AG117", ("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol",),
           _COPY),
    Saying("AG118", ("returned an incorrect number of gradients",), tells=_contract),
    Saying("AG118", ("returned a gradient different than None at position",)),
    Saying("AG118", ("returned an invalid gradient at index",), tells=_contract),
    Saying("AG118", ("Legacy autograd function with non-static forward method",)),
    Saying("AG118", ("You must implement ", " custom autograd.Function")),
    Saying("AG118", ("save_for_backward can only save variables",)),
    Saying("AG118", ("expected Variable or None (got ",)),
    Saying("AG118", ("Backward' object has no attribute",)),
    Saying("AG118", ("values to unpack",), evidence=("saved_tensors",)),
    Saying("AG119", (" object does not support the context manager protocol",),
           evidence=("no_grad", "enable_grad", "inference_mode")),
    Saying("AG119", ("__enter__",), evidence=("no_grad:", "enable_grad:", "inference_mode:")),
    Saying("AG120", ("unscale_() has already been called on this optimizer since the last update",)),
    Saying("AG120", ("unscale_() is being called after step()",)),
    Saying("AG120", ("step() has already been called since the last update()",)),
    Saying("AG120", ("No inf checks were recorded",)),
    Saying("AG120", ("Attempted ", "but _scale is None")),
    Saying("AG120", ("Closure use is not currently supported if GradScaler is enabled",)),
    Saying("AG121", ("functions with out=... arguments don't support automatic differentiation",)),
    Saying("AG121", ("derivative for ", "is not implemented")),
    Saying("AG121", ("trying to differentiate twice a function that was marked with @once_differentiable",)),
    Saying("AG121", ("is not differentiable",), evidence=("_(", "backward", "grad(")),
    Saying("AG121", ("(): argument '", "must be Number, not Parameter")),
    Saying("AG122", ("Can't detach views in-place",), _DETACH),
    Saying("AG123", ("cannot register a hook on a tensor that doesn't require gradient",)),
    Saying("AG123", ("post accumulate grad hooks cannot be registered on non-leaf tensors",)),
    Saying("AG124", ("unsupported operation: some elements of the input tensor and the written-to tensor",)),
    Saying("AG124", ("unsupported operation: more than one element of the written-to tensor",)),
    Saying("AG125", ("Trying to use a saved tensor that has been detached in-place",)),
    Saying("AG126", ("Expected to have finished reduction in the prior iteration",)),
    Saying("AG201", ("NoneType",), evidence=(".grad",)),
    Saying("AG307", ("LBFGS.step() missing",)),
)  # fmt: skip
"""The first that fits counts."""


_MADE_BY = re.compile(r"which is output \d{1,9} of (\w{1,200})")


def node_of(message: str) -> str | None:
    """The operator whose result was changed, as far as the message says it."""
    found = _MADE_BY.search(message)
    return _operator(found[1]) if found is not None else None
