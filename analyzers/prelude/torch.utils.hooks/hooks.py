class RemovableHandle:
    """Holds its own key in the table of hooks. Tables of like modules have like keys, so that ways can join them."""

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.hooks_dict = hooks_dict
        self.id = len(hooks_dict)
        while self.id in hooks_dict:
            self.id += 1

    def remove(self):
        self.hooks_dict.pop(self.id, None)
        self.hooks_dict = {}

    def __enter__(self):
        return self

    def __exit__(self, type, value, tb):
        self.remove()
