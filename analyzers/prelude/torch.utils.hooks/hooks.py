class RemovableHandle:
    """Holds its own key in the table of hooks."""

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.hooks_dict = hooks_dict

    def remove(self):
        self.hooks_dict.pop(self, None)

    def __enter__(self):
        return self

    def __exit__(self, type, value, tb):
        self.remove()
