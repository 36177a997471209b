"""What goes over a generator, which does not run ahead of its consumer: a loop's body runs at each item."""


def enumerate(iterable, start=0):
    for item in iterable:
        yield start, item
        start += 1


def zip(before, generator, after):
    """`before` and `after` are iterators over the other arguments on either side of the generator."""
    for item in generator:
        try:
            row = [next(other) for other in before], item, [next(other) for other in after]
        except StopIteration:
            return
        yield (*row[0], row[1], *row[2])


def sum(iterable, start):
    for item in iterable:
        start = start + item
    return start
