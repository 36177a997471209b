"""Small programs of plain Python, by name: each leaves in its variables what there is to compare.

They call no builtin function, as nobody answers for those where Python's libraries are not there.
"""

from __future__ import annotations

PROGRAMS = {
    "arithmetic": """
a = 7 // 2, 7 % 3, -7 // 2, -7 % 3, 2 ** 10, 7 / 2, 1 << 4, 6 & 3, 6 | 1, 6 ^ 3, ~5, -3, +4, not 0
b = 0.1 + 0.2, 1e3, True + 1, "ab" * 2, [1] * 3, (1, 2) + (3,), [1] + [2]
c = 1 < 2 < 3, 1 < 3 < 2, 1 == 1.0, "a" < "b", (1,) == (1,), 3 in [1, 2, 3], "b" not in "abc"
d = None is None, 1 if 0 else 2, 0 or "x", 1 and 2, "" or [] or 3
""",
    "division by zero": "a = 1\nb = 1 / 0\nc = 2\n",
    "augmented assignments": """
a = 1
a += 2
a *= 5
a -= 1
a //= 2
a **= 2
b = c = [1]
b += [2]
t = u = (1,)
t += (2,)
s = "x"
s += "y"
d = {"n": 1}
d["n"] += 4
""",
    "loops": """
total = 0
for i in [1, 2, 3, 4, 5]:
    if i == 2:
        continue
    if i == 5:
        break
    total += i
else:
    total = -1
for j in (1, 2):
    pass
else:
    ended = True
n = 0
while n < 4:
    n += 1
    if n == 3:
        break
pairs = []
for x, (y, *z) in [(1, (2, 3, 4)), (5, (6,))]:
    pairs.append((x, y, z))
letters = ""
for letter in "abc":
    letters = letter + letters
""",
    "functions": """
def f(a, b=2, *rest, c, d=4, **more):
    return a, b, rest, c, d, more
one = f(1, c=3)
two = f(1, 5, 6, 7, c=8, d=9, e=10)
args, named = (1, 2, 3), {"c": 4, "z": 5}
three = f(*args, **named)
four = f(0, *[1], *(2,), c=1)
g = lambda x, y=10: x + y
five = g(1), g(1, 2), g(y=1, x=5)
def nothing():
    pass
six = nothing()
def only(a, /, b, *, c):
    return a + b + c
seven = only(1, b=2, c=3)
""",
    "a missing argument": "def f(a, b):\n    return a\nx = f(1)\n",
    "an argument too many": "def f(a):\n    return a\nx = f(1, 2)\n",
    "an unknown keyword": "def f(a):\n    return a\nx = f(1, b=2)\n",
    "defaults are made once": """
def f(x, seen=[]):
    seen.append(x)
    return seen
a = f(1)
b = f(2)
same = a is b
""",
    "closures": """
def counter():
    count = 0
    def step(by=1):
        nonlocal count
        count += by
        return count
    return step
one, other = counter(), counter()
a = one(), one(2), other(), one()
late = [lambda: i for i in (1, 2, 3)]
b = [f() for f in late]
bound = [lambda i=i: i for i in (1, 2, 3)]
c = [f() for f in bound]
""",
    "global and local": """
x = 1
def read():
    return x
def write():
    global x
    x = 5
def shade():
    x = 9
    return x
a = read()
write()
b = read(), shade(), x
""",
    "a local before it is bound": "x = 1\ndef f():\n    y = x\n    x = 2\n    return y\nz = f()\n",
    "a name that is not there": "a = 1\nb = missing_name\n",
    "recursion": """
def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)
def even(n):
    return True if n == 0 else odd(n - 1)
def odd(n):
    return False if n == 0 else even(n - 1)
a, b, c = factorial(4), fibonacci(3), even(7)
""",
    "classes": """
class Point:
    made = 0
    def __init__(self, x, y=0):
        self.x, self.y = x, y
        Point.made += 1
    def moved(self, by):
        return Point(self.x + by, self.y)
p = Point(1)
q = p.moved(2)
a = p.x, q.x, q.y, Point.made, p.made
p.made = 7
b = p.made, Point.made, q.made
method = q.moved
c = method(1).x
del p.x
""",
    "an attribute that is not there": "class A:\n    pass\na = A()\nb = a.missing\n",
    "inheritance": """
class A:
    name = "A"
    def __init__(self):
        self.log = ["A"]
    def who(self):
        return self.name
class B(A):
    name = "B"
    def __init__(self):
        A.__init__(self)
        self.log.append("B")
class C(A):
    def __init__(self):
        A.__init__(self)
        self.log.append("C")
    def who(self):
        return "C:" + A.who(self)
class D(B, C):
    pass
d = D()
a = d.who(), d.log, C().who(), B().who(), A.who(d)
""",
    "properties and kinds of methods": """
class T:
    scale = 2
    def __init__(self, c):
        self._c = c
    @property
    def f(self):
        return self._c * self.scale
    @staticmethod
    def double(x):
        return 2 * x
    @classmethod
    def of(cls, f):
        made = cls(0)
        made._c = f
        return made
t = T(10)
a = t.f
t._c = 50
b = t.f, t._c, T.double(4), t.double(5), T.of(8)._c
""",
    "a property that cannot be set": "class T:\n    @property\n    def f(self):\n        return 1\nt = T()\nt.f = 2\n",
    "operators of a class": """
class V:
    def __init__(self, x):
        self.x = x
    def __add__(self, other):
        return V(self.x + other.x)
    def __radd__(self, other):
        return V(other + self.x)
    def __mul__(self, k):
        return V(self.x * k)
    def __neg__(self):
        return V(-self.x)
    def __eq__(self, other):
        return self.x == other.x
    def __lt__(self, other):
        return self.x < other.x
    def __getitem__(self, key):
        return key, self.x
    def __setitem__(self, key, value):
        self.x = key + value
    def __contains__(self, item):
        return item == self.x
    def __call__(self, *args):
        return args
    def __iadd__(self, k):
        self.x += k
        return self
v, w = V(1), V(2)
a = (v + w).x, (5 + v).x, (v * 3).x, (-v).x, v == V(1), v < w, w > v
b = v[3], v(1, 2), 1 in v, 4 in v
v[5] = 6
c = v.x
old = w
w += 10
d = w.x, old is w
""",
    "operands that do not fit": "a = 1\nb = 1 + 'x'\n",
    "items of objects": """
class Rows:
    def __init__(self, rows):
        self.rows = rows
    def __iter__(self):
        for row in self.rows:
            yield row
class Old:
    def __getitem__(self, i):
        if i > 2:
            raise IndexError
        return i * i
a = [row for row in Rows([1, 2])]
x, y = Rows("ab")
""",
    "exceptions": """
log = []
def risky(n):
    try:
        log.append(("try", n))
        if n == 1:
            raise ValueError
        if n == 2:
            raise KeyError
        if n == 3:
            return "returned"
    except ValueError:
        log.append("value")
        return "caught"
    except (KeyError, IndexError):
        log.append("lookup")
    else:
        log.append("else")
    finally:
        log.append("finally")
    return "end"
a = [risky(n) for n in (0, 1, 2, 3)]
""",
    "a finally that returns": """
def f():
    try:
        return 1
    finally:
        return 2
def g():
    for i in (1, 2):
        try:
            continue
        finally:
            seen.append(i)
    return "g"
seen = []
a = f(), g()
""",
    "an exception that is passed on": """
order = []
def inner():
    try:
        [][3]
    except IndexError:
        order.append("inner")
        raise
def outer():
    try:
        inner()
    except LookupError:
        order.append("outer")
a = outer()
""",
    "an exception of one's own": """
class Refused(Exception):
    def __init__(self, why):
        self.why = why
class Twice(Refused):
    pass
try:
    raise Twice("again")
except Refused as refused:
    a = refused.why
    del refused
""",
    "an exception that nobody catches": "a = 1\ntry:\n    {}['k']\nfinally:\n    b = 2\nc = 3\n",
    "assertions": "x = 1\nassert x == 1, 'fine'\na = 2\nassert x == 2\nb = 3\n",
    "with blocks": """
log = []
class Manager:
    def __init__(self, name):
        self.name = name
    def __enter__(self):
        log.append("enter " + self.name)
        return self.name
    def __exit__(self, kind, value, trace):
        log.append("exit " + self.name)
        return False
with Manager("a") as a, Manager("b"):
    log.append("body")
def f():
    with Manager("d") as d:
        return d
got = f()
for i in (1, 2):
    with Manager("e"):
        if i == 1:
            continue
        break
""",
    "generators": """
def count(n):
    i = 0
    while i < n:
        yield i
        i += 1
def both():
    yield "first"
    yield from count(2)
    yield from (10, 20)
a = [x for x in count(3)]
b = [x for x in both()]
total = 0
for x in count(10):
    if x == 4:
        break
    total += x
first, *others = both()
c = [y for y in (x * x for x in count(4) if x > 1)]
order = []
def talk():
    order.append("start")
    yield 1
    order.append("middle")
    yield 2
    order.append("end")
for got in talk():
    order.append(got)
""",
    "comprehensions": """
a = [x * x for x in (1, 2, 3) if x != 2]
b = {x: y for x, y in [("k", 1), ("l", 2)]}
c = {x % 2 for x in (1, 2, 3)}
d = [(x, y) for x in (1, 2) for y in (x, 9)]
x = "kept"
e = [[x for x in row] for row in ((1, 2), (3,))]
f = [n for n in (1, 2, 3, 4) if n * 2 > 4]
""",
    "patterns": """
def kind(value):
    match value:
        case 0:
            return "zero"
        case -1 | 1:
            return "one"
        case "a" | "b" as letter:
            return "letter " + letter
        case [x]:
            return "single", x
        case [x, y] if x == y:
            return "same", x
        case [first, *others]:
            return "list", first, others
        case {"k": found, **rest}:
            return "dict", found
        case None:
            return "none"
        case _:
            return "other"
def place(value):
    match value:
        case Point(x=0, y=y):
            return "axis", y
        case Point(x=x, y=y):
            return "any", x, y
        case _:
            return "nowhere"
class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
a = [kind(v) for v in (0, 1, -1, "b", [3], [4, 4], (1, 2, 3), {"k": 1, "l": 2}, None, 2.5)]
b = place(Point(0, 5)), place(Point(1, 2)), place(3)
""",
    "lists": """
a = [3, 1, 2]
a.append(4)
a.extend((5, 6))
a.insert(0, 9)
b = a.pop(), a.pop(0), a.index(1), a.count(2)
a.remove(1)
a.reverse()
c = a.copy()
c.sort()
d = a[0], a[-1], a[1:], a[::-1], a[:2]
a[0] = "new"
a[1] = 7
del a[-1]
e = [1, [2]]
f = e.copy()
f[1].append(3)
same = e[1] is f[1]
g = [1, 2]
g.clear()
""",
    "an index out of range": "a = [1]\nb = a[3]\n",
    "dictionaries": """
a = {"x": 1, "y": 2, **{"z": 3}}
a["w"] = 4
b = a["x"], a.get("q"), a.get("q", 5), a.pop("y"), a.setdefault("n", 0), a.setdefault("x", 9)
c = [k for k in a], [v for v in a.values()], [(k, v) for k, v in a.items()]
a.update({"x": 10, "v": 11})
a.update(u=12)
del a["w"]
d = "x" in a, "w" in a
e = a.copy()
e["x"] = 0
f = {"a": 1} | {"b": 2}
g = {1: "int", (1, 2): "tuple", None: "none"}
h = g[1], g[(1, 2)], g[None]
""",
    "a key that is not there": "a = {'x': 1}\nb = a['y']\n",
    "sets": """
a = {1, 2, 3}
a.add(4)
a.discard(1)
a.discard(99)
b = {2, 3} & a, {2} | {5}, {1, 2} - {2}, 2 in a, {1} | a
""",
    "strings": """
a = "Hello, World"
b = a.lower(), a.upper(), a.split(", "), a.replace("l", "L"), a.startswith("He"), a.endswith("x"), a.find("W")
c = "  x ".strip(), "a,b,,c".split(","), "x{}y{}".format(1, "z"), "abc"[1], "abc"[::-1]
n = 3
d = f"n={n} {n + 1!r} {'q'}", "x%s" % 1
e = "abc".isdigit(), "12".isdigit(), "a b".title(), "a\\nb".splitlines(), "x".zfill(3), "aXbX".count("X")
""",
    "tuples": """
t = (1, 2, 3, 2)
a = t.count(2), t.index(3), t[1:], t[-1], t + (4,), t * 2
(x, y), z = (1, 2), 3
first, *middle, last = [1, 2, 3, 4]
x, y = y, x
*only, = (5, 6)
b = 1,
""",
    "too many to unpack": "a, b = 1, 2\nc, d = (1, 2, 3)\n",
    "a tuple is not written": "t = (1, 2)\nt[0] = 5\n",
    "decorators": """
log = []
def loud(function):
    log.append("decorated")
    def inner(*args, **named):
        log.append("called")
        return function(*args, **named) * 10
    return inner
def times(n):
    def decorate(function):
        return lambda *args: function(*args) + n
    return decorate
@loud
def f(x):
    return x
@times(5)
@times(100)
def g(x):
    return x
def tagged(cls):
    cls.tag = "t"
    return cls
@tagged
class A:
    @loud
    def m(self, x):
        return x
a = f(1), g(2), A.tag, A().m(3)
""",
    "class bodies": """
class A:
    x = [1, 2]
    y = [v + 1 for v in x]
    for i in (1, 2):
        z = i
    if z == 2:
        flag = "two"
    class Inner:
        deep = 5
    def get(self):
        return self.Inner.deep
a = A.y, A.z, A.flag, A.Inner.deep, A().get()
""",
    "identity and change": """
a = [1]
b = a
c = [1]
same = a is b, a is c, a == c
b.append(2)
def change(items):
    items.append(3)
    items = []
    items.append(4)
    return items
d = change(a)
""",
    "a property is set": """
class T:
    def __init__(self):
        self.c = 1
    @property
    def f(self):
        return self.c
    @f.setter
    def f(self, value):
        self.c = value + 1
class U(T):
    pass
t, u = T(), U()
t.f = 5
u.f = 7
u.f += 1
t.g = 3
a = t.f, u.f, t.c, t.g
""",
    "a property that is replaced in part": """
class T:
    c = 1
    @property
    def f(self):
        return self.c
    @f.setter
    def f(self, value):
        self.c = value
    @f.getter
    def f(self):
        return self.c * 10
t = T()
t.f = 5
a = t.f, t.c
""",
    "a manager that swallows": """
class Quiet:
    def __enter__(self):
        return 1
    def __exit__(self, kind, value, trace):
        return True
with Quiet():
    raise ValueError
a = 2
""",
    "a manager that looks at what was raised": """
class Small(ValueError):
    size = 1
class Large(ValueError):
    size = 2
class Only:
    seen = None
    def __enter__(self):
        return self
    def __exit__(self, kind, value, trace):
        if kind is None:
            self.seen = "nothing"
            return True
        self.seen = kind.size, value.size
        return kind is Small
one, two, three = Only(), Only(), Only()
with one:
    pass
with two:
    raise Small
try:
    with three:
        raise Large
except Large:
    caught = True
a = one.seen, two.seen, three.seen
""",
    "a manager that raises on leaving": """
class Strict:
    def __enter__(self):
        return self
    def __exit__(self, kind, value, trace):
        raise KeyError
a = 0
try:
    with Strict():
        a = 1
    a = 2
except KeyError:
    b = a
""",
    "the name of an exception ends with its handler": """
error = "kept until then"
try:
    raise ValueError
except ValueError as error:
    a = 1
for i in (1, 2):
    try:
        raise ValueError
    except ValueError as found:
        b = i
        continue
for j in (1, 2):
    try:
        raise ValueError
    except ValueError as found:
        break
""",
    "objects without an equality": """
class A:
    pass
class B(A):
    def __eq__(self, other):
        return True
x = A()
y = A()
a = x == y, x == x, x != y, x == 1, x in [y], x in [y, x]
b = B() == 1
""",
    "statements that delete": "a = 1\nb = {'k': 1, 'l': 2}\ndel a, b['k']\nc = a\n",
    "expressions that assign": "a = (b := 3) + 1\nc = [y := 1, y + 1]\nif (n := 5) > 3:\n    d = n\n",
}

UNSEEN = (
    "a name that is not there",
    "an attribute that is not there",
    "a property that cannot be set",
    "operands that do not fit",
    "too many to unpack",
    "a tuple is not written",
    "statements that delete",
)
"""Mistakes that have nothing to do with tensors: CPython raises, and the machine goes on with what it does not know."""
