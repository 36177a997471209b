"""Functions of Python's standard library that store values, call functions or produce numbers."""

from __future__ import annotations

import itertools

from analyzers.domain.join import one_of, reach_of
from analyzers.domain.lineage import Cut, Lineage
from analyzers.domain.objects import ClassObj, DictObj, Instance, Iterator, ListObj
from analyzers.domain.values import NONE, Builtin, Const, Native, Partial, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.graph import refreshed
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ranges import SHOWN
from analyzers.machine.core.registries import FALLBACKS, answers
from analyzers.machine.core.tables import enter
from analyzers.machine.interpreter.decorators import decorate_class
from analyzers.machine.libraries.python.builtin_functions import call_builtin
from analyzers.machine.objects.attributes import call_method, get_attribute
from analyzers.machine.objects.comparisons import compare
from analyzers.machine.objects.enums import AUTO
from analyzers.machine.objects.folding import TooExpensiveError, fold
from analyzers.machine.objects.iteration import stream_of
from analyzers.machine.objects.operators import augmented, binary, unary
from analyzers.machine.objects.strings import lift
from analyzers.machine.objects.subscripts import get_item, set_item
from analyzers.maps import Map


def _call_math(m: Machine, rest: str, args: Args) -> Value:
    values = [a.value if isinstance(a, Const) else None for a in args.pos]
    if values and None not in values:
        try:
            return lift(m, fold(f"math.{rest}", *values))
        except TooExpensiveError:
            pass
        except (TypeError, ValueError, OverflowError):
            return Unknown("float")
    trail = m.parents(args.pos)
    kind = "int" if rest in {"ceil", "floor", "trunc", "gcd", "lcm", "comb", "perm", "factorial", "isqrt"} else "float"
    if rest.startswith("is"):
        kind = "bool"
    cut: Cut | None = None
    for value in args.pos:
        tensor = m.tensor(value)
        if tensor is not None and isinstance(value, Ref) and refreshed(m, value.id).requires_grad:
            cut = "left-torch"
    lineage = Lineage(rest, m.here(), trail, cut, m.via()) if trail else None
    return Unknown(kind, None, lineage)


OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and_": "&", "or_": "|", "xor": "^",
}  # fmt: skip


def _call_operator(m: Machine, rest: str, args: Args) -> Value:
    if rest in OPERATORS:
        return binary(m, OPERATORS[rest], args.get(0, "a"), args.get(1, "b"))
    if rest.startswith("i") and rest[1:] in OPERATORS:
        return augmented(m, OPERATORS[rest[1:]], args.get(0, "a"), args.get(1, "b"))
    if rest == "neg":
        return unary(m, "-", args.get(0, "a"))
    if rest in {"eq", "ne", "lt", "le", "gt", "ge"}:
        sign = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}[rest]
        return compare(m, sign, args.get(0, "a"), args.get(1, "b"))
    if rest == "getitem":
        return get_item(m, args.get(0, "a"), args.get(1, "b"))
    if rest == "setitem":
        set_item(m, args.get(0, "a"), args.get(1, "b"), args.get(2, "c"))
        return NONE
    if rest == "itemgetter" and len(args.pos) == 1:
        key = args.pos[0]
        return Native("itemgetter", lambda mm, a: get_item(mm, a.get(0, "obj"), key), key)
    if rest == "attrgetter" and len(args.pos) == 1 and isinstance(args.pos[0], Const):
        path = str(args.pos[0].value).split(".")

        def read(mm: Machine, a: Args) -> Value:
            value = a.get(0, "obj")
            for part in path:
                value = get_attribute(mm, value, part)
            return value

        return Native("attrgetter", read, args.pos[0])
    if rest == "methodcaller" and args.pos and isinstance(args.pos[0], Const):
        name = str(args.pos[0].value)
        more = Args(args.pos[1:], args.kw, args.open)
        return Native("methodcaller", lambda mm, a: call_method(mm, a.get(0, "obj"), name, more), args.pos[0])
    return Unknown()


@answers("enum.auto")
def _auto(m: Machine, args: Args) -> Value:
    """A number, or the name in lower case: another one each time."""
    del args
    return Unknown(None, (AUTO, m.fresh()))


@answers("random.Random", "random.SystemRandom")
def _generator(m: Machine, args: Args) -> Value:
    """A separate random generator has the same functions as the module."""
    return Builtin("random")


CLOCKS = frozenset({"monotonic", "perf_counter", "process_time", "thread_time", "time"})


@answers(*(f"time.{clock}" for clock in sorted(CLOCKS)))
def _seconds(m: Machine, args: Args) -> Value:
    return Unknown("float")


@answers(*(f"time.{clock}_ns" for clock in sorted(CLOCKS)))
def _nanoseconds(m: Machine, args: Args) -> Value:
    return Unknown("int")


def _call_random(m: Machine, rest: str, args: Args) -> Value:
    if rest in {"random", "uniform", "gauss", "normalvariate", "betavariate", "expovariate", "triangular"}:
        return Unknown("float")
    if rest in {"randint", "randrange", "getrandbits"}:
        return Unknown("int")
    if rest in {"seed", "setstate"}:
        return NONE
    if rest == "shuffle":
        found = m.obj(args.get(0, "x"))
        target = args.get(0, "x")
        if isinstance(found, ListObj) and isinstance(target, Ref):
            element = _one_of(found)
            count = len(found.items) if found.rest is None else 0
            m.st.put(target.id, ListObj((element,) * count, None if found.rest is None else element, found.kind))
        return NONE
    if rest in {"choice", "sample", "choices"}:
        found = m.obj(args.get(0, "population"))
        source = args.get(0, "population")
        if isinstance(source, Tup):
            found = ListObj(source.items)
        if isinstance(found, ListObj):
            element = _one_of(found)
            if rest == "choice":
                return element
            k = args.get(1, "k", Const(1))
            if isinstance(k, Const) and isinstance(k.value, int) and 0 <= k.value <= 64:
                return m.new(ListObj((element,) * k.value))
            return m.new(ListObj((), element))
        return Unknown(None, None, None, reach_of(source))
    return Unknown()


def _one_of(found: ListObj) -> Value:
    return one_of(*found.items, *((found.rest,) if found.rest is not None else ()))


@answers("functools.partial", "functools.partialmethod")
def _partial(m: Machine, args: Args) -> Value:
    if not args.pos:
        return Unknown()
    return Partial(args.pos[0], tuple(args.pos[1:]), tuple(args.kw.items()))


@answers("functools.reduce")
def _reduce(m: Machine, args: Args) -> Value:
    func = args.get(0, "function")
    source = stream_of(m, args.get(1, "iterable")).drained(m)
    items = list(source.items)
    if source.rest is not None:
        items += [source.make(m)(), source.make(m)()]
    if len(args.pos) > 2:
        items.insert(0, args.pos[2])
    if not items:
        return Unknown()
    total = items[0]
    for item in items[1:]:
        total = call(m, func, Args([total, item]))
    return total


@answers("functools.wraps", "functools.lru_cache", "functools.cache", "torch.compile", "torch.jit.script",
        "torch.jit.trace",
        "functools.update_wrapper", "torch.compiler.disable", "torch._dynamo.disable")  # fmt: skip
def _transparent(m: Machine, args: Args) -> Value:
    """What is wrapped, or a decorator, if only settings are given."""
    named = (args.kw[name] for name in ("model", "obj", "func") if name in args.kw)
    first = args.pos[0] if args.pos else next(named, None)
    if args.called != "functools.wraps" and first is not None and not isinstance(first, Const):
        return first
    return m.new(Instance("transparent", Map()))


@answers("itertools.chain")
def _chain(m: Machine, args: Args) -> Value:
    items: list[Value] = []
    rest: Value | None = Unknown() if args.open else None
    for value in args.pos:
        source = stream_of(m, value).drained(m)
        items += source.items
        if source.rest is not None:
            rest = source.rest if rest is None else one_of(rest, source.rest)
    return m.new(Iterator(NONE, 0, tuple(items), rest))


@answers("itertools.chain.from_iterable")
def _chain_from(m: Machine, args: Args) -> Value:
    source = stream_of(m, args.get(0, "iterables")).drained(m)
    return _chain(m, Args(list(source.items), {}, source.rest is not None))


@answers("itertools.repeat", "itertools.cycle")
def _repeat(m: Machine, args: Args) -> Value:
    value = args.get(0, "object")
    if args.called.endswith("cycle"):
        source = stream_of(m, value).drained(m)
        again = source.rest if source.rest is not None else one_of(*source.items)
        return m.new(Iterator(NONE, 0, source.items * 2, again))
    times = args.get(1, "times")
    if isinstance(times, Const) and isinstance(times.value, int) and times.value <= 64:
        return m.new(Iterator(NONE, 0, (value,) * times.value, None))
    return m.new(Iterator(NONE, 0, (), value))


@answers("itertools.count")
def _count(m: Machine, args: Args) -> Value:
    start = args.get(0, "start", Const(0))
    step = args.get(1, "step", Const(1))
    if isinstance(start, Const) and isinstance(step, Const):
        first: list[Value] = [start]
        for _ in range(3):
            first.append(binary(m, "+", first[-1], step))
        return m.new(Iterator(NONE, 0, tuple(first), Unknown("int")))
    return m.new(Iterator(NONE, 0, (), Unknown("int")))


@answers("itertools.product", "itertools.combinations", "itertools.permutations", "itertools.islice",
        "itertools.accumulate", "itertools.pairwise", "itertools.zip_longest", "itertools.starmap",
        "itertools.groupby", "itertools.takewhile")  # fmt: skip
def _itertools(m: Machine, args: Args) -> Value:
    name = args.called.rsplit(".", 1)[-1]
    if (name == "product" and not args.kw) or name in {"pairwise", "combinations", "permutations"}:
        sources = [stream_of(m, a).drained(m) for a in (args.pos if name == "product" else args.pos[:1])]
        if all(s.rest is None for s in sources):
            extra: list[int] = []
            if name in {"combinations", "permutations"}:
                length = m.int_of(
                    args.get(1, "r", Const(len(sources[0].items)) if name == "permutations" else Unknown())
                )
                if length is None or length < 0:
                    return Unknown(None, None, None, reach_of(*args.pos))
                extra = [min(length, len(sources[0].items) + 1)]
            made = getattr(itertools, name)(*(s.items for s in sources), *extra)
            first = tuple(Tup(t) for t in itertools.islice(made, SHOWN + 1))
            return m.new(Iterator(NONE, 0, first[:SHOWN], one_of(*first[SHOWN:]) if len(first) > SHOWN else None))
    if name == "islice" and args.pos:
        source = stream_of(m, args.pos[0]).drained(m)
        if len(args.pos) == 2 and isinstance(args.pos[1], Const) and isinstance(args.pos[1].value, int):
            count = args.pos[1].value
            taken = source.items[:count]
            if len(taken) < count and source.rest is not None and count <= 64:
                taken = (*taken, *(source.make(m)() for _ in range(count - len(taken))))
            return m.new(Iterator(NONE, 0, taken, None))
    if name == "starmap" and len(args.pos) == 2:
        source = stream_of(m, args.pos[1]).drained(m)
        rows = tuple(
            call(m, args.pos[0], Args(list(i.items))) if isinstance(i, Tup) else Unknown() for i in source.items
        )
        return m.new(Iterator(NONE, 0, rows, None if source.rest is None else Unknown()))
    return Unknown(None, None, None, reach_of(*args.pos))


@answers("collections.deque")
def _deque(m: Machine, args: Args) -> Value:
    limit = m.int_of(args.get(1, "maxlen"))
    source = stream_of(m, args.pos[0]).drained(m) if args.pos else None
    items = source.items if source is not None else ()
    return m.new(
        ListObj(items[-limit:] if limit else items, source.rest if source is not None else None, "deque", limit)
    )


@answers("collections.OrderedDict", "collections.Counter")
def _ordered_dict(m: Machine, args: Args) -> Value:
    if args.called.endswith("Counter"):
        return m.new(DictObj(Map(), (), Unknown("int")))
    return call_builtin(m, "dict", args)


@answers("collections.defaultdict")
def _defaultdict(m: Machine, args: Args) -> Value:
    factory = args.get(0, "default_factory")
    return m.new(DictObj(Map(), (), None, "defaultdict", None if factory == NONE else factory))


@answers("collections.namedtuple", "typing.NamedTuple")
def _namedtuple(m: Machine, args: Args) -> Value:
    fields = args.get(1, "field_names")
    name = args.get(0, "typename")
    names: list[str] = []
    if isinstance(fields, Const) and isinstance(fields.value, str):
        names = fields.value.replace(",", " ").split()
    else:
        stream = stream_of(m, fields).drained(m)
        inner = [item.items[0] if isinstance(item, Tup) and item.items else item for item in stream.items]
        names = [str(one.value) for one in inner if isinstance(one, Const)]
        if stream.rest is not None or len(names) < len(inner):
            return Unknown(None, m.fresh(), None, reach_of(*args.all()))
    ident = m.fresh()
    title = str(name.value) if isinstance(name, Const) else "tuple"
    m.st.put(
        ident,
        ClassObj(
            title,
            title,
            m.frame.module,
            (),
            (ident,),
            Map(),
            True,
            tuple((n, None, False) for n in names),
            "namedtuple",
        ),
    )
    return Ref(ident)


@answers("contextlib.nullcontext")
def _nullcontext(m: Machine, args: Args) -> Value:
    return m.new(Instance("contextlib.nullcontext", Map({"value": args.get(0, "enter_result")})))


@answers("contextlib.suppress")
def _suppress(m: Machine, args: Args) -> Value:
    return m.new(Instance("contextlib.suppress", Map()))


@answers("pytest.raises", "pytest.warns")
def _expecting(m: Machine, args: Args) -> Value:
    if args.called.endswith("warns"):
        return m.new(Instance("contextlib.nullcontext", Map()))
    return m.new(Instance("pytest.raises", Map()))


@answers("dataclasses.dataclass")
def _dataclass(m: Machine, args: Args) -> Value:
    if args.pos and isinstance(args.pos[0], Ref):
        return decorate_class(m, Builtin("dataclasses.dataclass"), args.pos[0])
    return m.new(Instance("dataclasses.dataclass", Map()))


@answers("dataclasses.field")
def _field(m: Machine, args: Args) -> Value:
    return m.new(Instance("dataclasses.field", Map(args.kw)))


@answers("dataclasses.replace")
def _dataclass_replace(m: Machine, args: Args) -> Value:
    found = m.obj(args.get(0, "obj"))
    if isinstance(found, Instance):
        return m.new(Instance(found.cls, found.attrs.update(args.kw), found.open))
    return Unknown()


@answers("typing.cast")
def _cast(m: Machine, args: Args) -> Value:
    return args.get(1, "val")


@answers("typing.TypeVar", "typing.NewType", "typing.ParamSpec")
def _typing(m: Machine, args: Args) -> Value:
    return Unknown()


@answers("sys.exit", "os._exit")
def _exit(m: Machine, args: Args) -> Value:
    raise PyRaise("SystemExit")


enter(FALLBACKS, "math", _call_math)
enter(FALLBACKS, "operator", _call_operator)
enter(FALLBACKS, "random", _call_random)
