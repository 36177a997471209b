class ModelOutput:
    """What models return: its fields by name, as attributes or items, and those that are not None by their order."""

    def __init__(self, **fields):
        for name, value in fields.items():
            setattr(self, name, value)

    def __getitem__(self, key):
        return getattr(self, key) if isinstance(key, str) else self.to_tuple()[key]

    def to_tuple(self):
        return tuple(value for value in vars(self).values() if value is not None)
