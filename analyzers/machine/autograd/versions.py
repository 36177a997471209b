"""Version counters: what bumps them, what bypasses them, and versions known only approximately."""

from __future__ import annotations

from analyzers.domain.objects import VERSION_BASE, Counter, Storage, Tensor, Write, short_of
from analyzers.domain.renaming import Version
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import Written, tell


def version_of(m: Machine, tensor: Tensor) -> int | None:
    counter = m.st.get(tensor.counter)
    assert isinstance(counter, Counter)
    return counter.version


def version_kept(m: Machine, tensor: Tensor) -> int | None:
    """The current version, remembered so that later writes can be detected."""
    version = version_of(m, tensor)
    m.effect(keep, (tensor.counter, tensor.storage))
    if version is not None and version >= VERSION_BASE:
        m.effect(_keep_version, Version(tensor.counter, version))
    return version


def _keep_version(m: Machine, kept: Version) -> None:
    assert kept.version is not None
    m.indexes.versions_kept.add(kept.version)


def _is_version_kept(m: Machine, asked: Version) -> bool:
    return asked.version in m.indexes.versions_kept


def keep(m: Machine, counters: tuple[int, ...]) -> None:
    m.indexes.counters_kept.update(counters)


def bump(m: Machine, ident: int, what: str) -> None:
    """Record a write."""
    tensor = tensor_at(m, ident)
    counter = m.st.get(tensor.counter)
    assert isinstance(counter, Counter)
    version = None if counter.version is None else counter.version + 1
    write = Write(version or 0, m.here(), what, False, short_of(counter.writes), m.via())
    m.st.put(tensor.counter, Counter(version, write))
    storage = m.st.get(tensor.storage)
    assert isinstance(storage, Storage)
    m.st.put(tensor.storage, Storage(write, storage.count + 1))
    tell(m, Written(tensor.storage, storage.count, what))
    for alias in tensor.aliases:
        blur_tensor(m, alias)


def write_hidden(m: Machine, storage: int, what: str) -> None:
    """A write that bypasses the version counter."""
    found = m.st.get(storage)
    if isinstance(found, Storage):
        write = Write(found.count + 1, m.here(), what, True, None, m.via())
        m.st.put(storage, Storage(write, found.count + 1))
        tell(m, Written(storage, found.count, what))


def blur_tensor(m: Machine, ident: int) -> None:
    """Unknown code may have written to a tensor, or run a backward through it."""
    tensor = m.st.get(ident)
    if not isinstance(tensor, Tensor):
        return
    counter = m.st.get(tensor.counter)
    if isinstance(counter, Counter):
        blurred = m.fresh() * VERSION_BASE
        if not _is_blurred(m, tensor.counter, counter.version):
            m.st.put(tensor.counter, Counter(blurred, counter.writes))


def _is_blurred(m: Machine, counter: int, version: int | None) -> bool:
    """Whether this version is already as unknown as further unknown writes would make it."""
    blur, writes = divmod(version or 0, VERSION_BASE)
    return m.ids.is_own(blur) and writes == 0 and not m.test(_is_version_kept, Version(counter, version))
