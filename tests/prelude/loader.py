"""Run the prelude under CPython on real torch, so that torch itself can judge it.

A prelude directory is one namespace; `import torch` in it means the modelled names, and real torch where a name is
not modelled, just as it means the machine's own operators there. What the machine does natively for `nn.Module` (file
what is assigned in `_parameters`, `_buffers`, `_modules`, and look there for what is missing) is added here by hand.
"""

import ast
import builtins
import copy
import importlib
import runpy
import types
from pathlib import Path

import torch

torch.set_num_threads(1)

PRELUDE = Path(__file__).parents[2] / "analyzers" / "prelude"
DIRECTORIES = sorted(p.name for p in PRELUDE.iterdir() if p.is_dir() and p.name.startswith("torch"))


ALIASES = runpy.run_path(str(PRELUDE / "aliases.py"))["ALIASES"]


def real(dotted):
    """The object of real torch, or None."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part, None)
        return found
    return None


def public_names(directory):
    return {name: path for name, path in top_level(PRELUDE / directory).items() if not name.startswith("_")}


def top_level(folder):
    """Which file of a directory binds each top-level name."""
    names = {}
    for path in sorted(folder.glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            for name in bound_by(node):
                assert name not in names, f"{folder.name}: {name} is defined twice"
                names[name] = path
    return names


def bound_by(node):
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Assign():
            return [n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return []


class Namespace(dict):
    """The names of one directory; a file runs when one of its names is first asked for."""

    def __init__(self, world, directory):
        super().__init__()
        self.files = top_level(PRELUDE / directory)
        self.started = set()
        self["__builtins__"] = {**vars(builtins), "__import__": world.load}
        self["__name__"] = "prelude." + directory

    def __missing__(self, name):
        path = self.files.get(name)
        if path is None or path in self.started:
            raise KeyError(name)
        self.run(path)
        return dict.__getitem__(self, name)

    def run(self, path):
        if path not in self.started:
            self.started.add(path)
            exec(compile(path.read_text(), str(path), "exec"), self)

    def run_all(self):
        for path in dict.fromkeys(self.files.values()):
            self.run(path)


class Overlay(types.ModuleType):
    """`torch.nn` and the like: modelled names first, then real torch's."""

    def __init__(self, world, dotted):
        super().__init__(dotted)
        self.__dict__.update(_world=world, _dotted=dotted)

    def __getattr__(self, name):
        return self._world.lookup(f"{self._dotted}.{name}")


class World:
    def __init__(self):
        self.namespaces = {d: Namespace(self, d) for d in DIRECTORIES}
        self.overlays = {}
        self.notes = []
        self.machine = stub(self)
        for directory, namespace in self.namespaces.items():
            if directory == "torch.nn":
                give_modules_their_tables(namespace["Module"])
            namespace.run_all()

    def load(self, name, globals=None, locals=None, fromlist=(), level=0):
        if name == "autograd_machine":
            return self.machine
        if not name.startswith("torch"):
            return builtins.__import__(name, globals, locals, fromlist, level)
        return self.overlay(name if fromlist else name.split(".")[0])

    def overlay(self, dotted):
        if dotted not in self.overlays:
            self.overlays[dotted] = Overlay(self, dotted)
        overlay = self.overlays[dotted]
        parent, _, last = dotted.rpartition(".")
        if parent:
            self.overlay(parent).__dict__[last] = overlay
        return overlay

    def lookup(self, dotted):
        """What the prelude, or failing that real torch, calls `dotted`."""
        dotted = ALIASES.get(dotted, dotted)
        directory, _, name = dotted.rpartition(".")
        namespace = self.namespaces.get(directory)
        if namespace is not None and (name in namespace or name in namespace.files):
            return namespace[name]
        if any(d == dotted or d.startswith(dotted + ".") for d in (*self.namespaces, *ALIASES)):
            return self.overlay(dotted)
        found = real(dotted)
        if found is None:
            raise AttributeError(dotted)
        return found

    def own(self, value):
        """Arguments with real functions and modules of torch replaced by modelled ones."""
        if isinstance(value, dict):
            return {k: self.own(v) for k, v in value.items()}
        if type(value) in (tuple, list):
            return type(value)(self.own(v) for v in value)
        if isinstance(value, torch.nn.TransformerEncoderLayer):
            return self.lookup("torch.nn.TransformerEncoderLayer")(
                value.linear1.in_features,
                value.self_attn.num_heads,
                value.linear1.out_features,
                value.dropout.p,
                value.activation,
                value.norm1.eps,
                value.self_attn.batch_first,
                value.norm_first,
                value.linear1.bias is not None,
            )
        assert not isinstance(value, torch.nn.Module), type(value)
        return value


def give_modules_their_tables(module_class):
    def assign(self, name, value):
        parameters = self.__dict__.get("_parameters")
        if "_modules" in self.__dict__:
            if isinstance(value, torch.nn.Parameter):
                parameters[name] = value
                return
            if isinstance(value, module_class):
                self._modules[name] = value
                return
            if name in parameters:
                if value is not None:
                    raise TypeError(f"cannot assign '{type(value)}' as parameter '{name}'")
                parameters[name] = value
                return
            for table in (self._buffers, self._modules):
                if name in table:
                    table[name] = value
                    return
        object.__setattr__(self, name, value)

    def look(self, name):
        for table in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(table, {})
            if name in found:
                return found[name]
        entries = self.__dict__.get("_modules", {}).get("parametrizations", ())
        if name in entries:
            return entries[name]()
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def forget(self, name):
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                return
        object.__delattr__(self, name)

    module_class.__setattr__ = assign
    module_class.__getattr__ = look
    module_class.__delattr__ = forget


def stub(world):
    """`autograd_machine`, on real tensors."""
    machine = types.ModuleType("autograd_machine")

    def named_modules(module, prefix="", seen=None):
        seen = set() if seen is None else seen
        if module is None or module in seen:
            return []
        seen.add(module)
        found = [(prefix, module)]
        for name, child in module._modules.items():
            found += named_modules(child, f"{prefix}.{name}" if prefix else name, seen)
        return found

    def members(module, table):
        found, seen = [], set()
        for prefix, inner in named_modules(module):
            for name, value in getattr(inner, table).items():
                if value is not None and value not in seen:
                    seen.add(value)
                    found.append((f"{prefix}.{name}" if prefix else name, value))
        return found

    def write(t):
        with torch.no_grad():
            t.copy_(t.clone() * 0.5 if t.is_floating_point() else t)

    def update(t, *others):
        t.add_(sum(o * 0.5 for o in others))

    def write_hidden(t):
        t.data.copy_(t.detach() * 0.5)

    def begin(module):
        module.__dict__.update(training=True, _hooked=False, _non_persistent_buffers_set=set())
        module.__dict__.update(_buffers={}, _parameters={}, _modules={})

    def refuse(message):
        raise RuntimeError(message)

    def raise_if(changed):
        if changed:
            raise RuntimeError("one of the variables needed for gradient computation has been modified")

    def delayed_error(t, message):
        return torch._C._functions.DelayedError(message.encode(), 1)(t.detach().requires_grad_())

    machine.delayed_error = delayed_error
    machine.runs_again = lambda function: None
    machine.once = lambda members: list(dict.fromkeys(members))

    def outside(t, inputs):
        stack, leaves = [t.grad_fn], set()
        while stack:
            node = stack.pop()
            if hasattr(node, "variable"):
                leaves.add(node.variable)
            stack += [] if node is None else [below for below, _ in node.next_functions]
        return t.detach() if leaves and leaves <= set(inputs) else t

    machine.outside = outside
    machine.spread = lambda t, shape: t * torch.ones(*shape, *[1] * t.dim())
    machine.named_modules = named_modules
    machine.tell_apart = lambda module: None
    machine.named_parameters = lambda module: members(module, "_parameters")
    machine.parameters = lambda module: [p for _, p in members(module, "_parameters")]
    machine.named_buffers = lambda module: members(module, "_buffers")
    machine.write = write
    machine.initialise = lambda module, table: [write(t) for t in getattr(module, table).values() if t is not None]
    machine.alike = lambda state_dict: state_dict
    machine.begin = begin
    machine.refuse = refuse
    machine.sizes = lambda value, n: tuple(value) if isinstance(value, (tuple, list)) else (value,) * n
    machine.keep = lambda *tensors: [(t, t._version) for t in tensors]
    machine.kept = lambda kept: [raise_if(t._version != version) for t, version in kept]
    machine.walk = torch._C._current_graph_task_id
    machine.aimed = lambda: not torch.autograd._is_checkpoint_valid()
    machine.write_hidden = write_hidden
    machine.update = update
    machine.surely = bool
    machine.presumably = lambda condition, outcome: condition
    machine.torch_since = lambda major, minor: torch.torch_version.TorchVersion(torch.__version__) >= (major, minor)
    machine.blur = write
    machine.sized = lambda tensor, *sizes: tensor
    machine.known = lambda *values: True
    machine.deepcopy = copy.deepcopy
    machine.unknown = lambda *made_of, **more: None
    machine.presumed_data = lambda *made_of: None
    machine.unknown_int = lambda: 2
    machine.several = lambda value: [value]
    machine.says_nothing = lambda value: False
    machine.has_tensor = lambda values: isinstance(values[0], torch.Tensor)
    machine.is_device = lambda value: isinstance(value, torch.device)
    machine.unknown_float = lambda: 0.5
    machine.unknown_bool = lambda: True
    machine.with_adapters = machine.add_adapters = lambda model: model
    machine.note_training = machine.note_defaults = lambda: None
    machine.takes_defaults = lambda: False
    machine.gathered = lambda result, count: result
    machine.presume_trained = lambda parameters: None
    machine.layers = lambda modules: modules
    machine.are_layers = lambda modules: False
    machine.presumes = lambda message: False
    machine.stands_for_many = lambda parameter: False
    machine.steps_unseen = machine.set_training = machine.fill_state = machine.load_state = lambda *what: False
    machine.take_step = lambda optimizer, group, times: group["params"]
    machine.perhaps_sparse = machine.clear_gradients = machine.write_gradients = lambda parameters: parameters
    machine.have_gradients = lambda parameters: any(parameter.grad is not None for parameter in parameters)
    machine.set_requires_grad = lambda parameters, requires_grad: parameters
    for note in (
        "note_optimizer", "note_step", "note_zero", "note_clip", "note_scheduler", "note_scale", "note_unscale",
        "note_scaled_step", "note_replaced", "follow",
    ):  # fmt: skip
        setattr(machine, note, lambda *what, note=note: world.notes.append((note, what[0])))
    return machine
