"""What a scenario does and looks at: the same words for real torch and for the machine's rooms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

Handle: TypeAlias = Any
"""A tensor, as the side that made it knows it."""

Entry: TypeAlias = list[Any]
"""A word for what was looked at, and what was seen, as JSON can say it."""

UNKNOWN = "?"
"""What the machine does not know."""


class Api(ABC):
    """One side. What is seen goes into `log`, in the order of looking."""

    def __init__(self) -> None:
        self.log: list[Entry] = []

    def run(self, scenario: Callable[[Api], None]) -> list[Entry]:
        """The log of a scenario; an exception that it does not expect is its last entry."""
        self.attempt("to the end", lambda: scenario(self))
        return self.log

    def attempt(self, what: str, step: Callable[[], object]) -> None:
        """Do something that may raise, and note whether it did."""
        raised = self.raised_by(step)
        self.log.append(["attempt", what, "passes"] if raised is None else ["attempt", what, *raised])

    def see(self, name: str, tensor: Handle) -> None:
        """Flags, place in the graph, version, sizes and dtype."""
        self.log.append(["tensor", name, self.described(tensor)])

    def see_graph(self, name: str, tensor: Handle) -> None:
        """The nodes behind a tensor, as a tree of names."""
        self.log.append(["graph", name, self.graph(tensor)])

    def see_grad(self, name: str, tensor: Handle) -> None:
        """Whether `.grad` is there, and of what kind."""
        self.log.append(["grad", name, self.grad_of(tensor)])

    def see_layout(self, name: str, tensor: Handle) -> None:
        """Strides, offset, and whether the elements lie row by row."""
        self.log.append(["layout", name, self.layout(tensor)])

    def see_same(self, name: str, one: Handle, other: Handle) -> None:
        """Whether two handles are one tensor, and whether they share memory and version counter."""
        self.log.append(["same", name, self.same(one, other)])

    def see_missing(self, name: str, value: Handle) -> None:
        """Whether there is None instead of a tensor."""
        self.log.append(["missing", name, self.missing(value)])

    @abstractmethod
    def raised_by(self, step: Callable[[], object]) -> Entry | None:
        """Exception, message, and the machine's cause."""

    @abstractmethod
    def described(self, tensor: Handle) -> dict[str, Any]: ...

    @abstractmethod
    def graph(self, tensor: Handle) -> Any: ...

    @abstractmethod
    def grad_of(self, tensor: Handle) -> Any: ...

    @abstractmethod
    def layout(self, tensor: Handle) -> Any: ...

    @abstractmethod
    def same(self, one: Handle, other: Handle) -> Any: ...

    @abstractmethod
    def missing(self, value: Handle) -> bool: ...

    @abstractmethod
    def tensor(self, *sizes: int, grad: bool = False, dtype: str = "float32") -> Handle:
        """A leaf full of ones."""

    @abstractmethod
    def dtype(self, name: str) -> Any: ...

    @abstractmethod
    def op(self, name: str, *args: Any, **named: Any) -> Any:
        """An operator: `mul` is a method of tensors, `torch.cat` a function."""

    @abstractmethod
    def item(self, tensor: Handle, index: Any) -> Handle: ...

    @abstractmethod
    def set_item(self, tensor: Handle, index: Any, value: Any) -> None: ...

    @abstractmethod
    def flag(self, tensor: Handle, on: bool, *, method: bool = False) -> None:
        """`t.requires_grad = on`, or as a method with an underscore."""

    @abstractmethod
    def detach(self, tensor: Handle) -> Handle: ...

    @abstractmethod
    def data(self, tensor: Handle) -> Handle: ...

    @abstractmethod
    def backward(
        self,
        *roots: Handle,
        gradient: Handle = None,
        retain: bool | None = None,
        create: bool = False,
        inputs: Sequence[Handle] | None = None,
    ) -> None: ...

    @abstractmethod
    def grad(
        self,
        outputs: Sequence[Handle],
        inputs: Sequence[Handle],
        *,
        retain: bool | None = None,
        create: bool = False,
        unused: bool = False,
        materialize: bool = False,
    ) -> list[Handle]: ...

    @abstractmethod
    def mode(self, grad: bool, *, inference: bool = False) -> AbstractContextManager[None]: ...

    @abstractmethod
    def hook(self, tensor: Handle, hook: Callable[[Handle], Handle]) -> None: ...

    @abstractmethod
    def hook_after(self, leaf: Handle, hook: Callable[[Handle], None]) -> None: ...

    @abstractmethod
    def retain_grad(self, tensor: Handle) -> None: ...

    @abstractmethod
    def packing(
        self, pack: Callable[[Handle], Handle], unpack: Callable[[Handle], Handle]
    ) -> AbstractContextManager[None]: ...
