import autograd_machine


class ModelOutput:
    """What models return: its fields by name, as attributes or items, and those that are not None by their order."""

    _fields = None

    def __init__(self, **fields):
        self._fields = fields
        for name, value in fields.items():
            setattr(self, name, value)

    def __getitem__(self, key):
        return getattr(self, key) if isinstance(key, str) else self.to_tuple()[key]

    def to_tuple(self):
        # A data class of the program's own has an order that is not seen here.
        if self._fields is None:
            return autograd_machine.unknown(self)
        return tuple([value for value in self._fields.values() if value is not None])
