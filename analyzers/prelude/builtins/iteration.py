"""Iterators over a generator, which is not run ahead of who consumes it: a loop's body runs at each of its items."""


def enumerate(iterable, start=0):
    for item in iterable:
        yield start, item
        start += 1


def zip(before, generator, after):
    """`before` and `after` are iterators over what stands beside the generator."""
    for item in generator:
        try:
            row = [next(other) for other in before], item, [next(other) for other in after]
        except StopIteration:
            return
        yield (*row[0], row[1], *row[2])
