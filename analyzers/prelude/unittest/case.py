import autograd_machine
import contextlib
import pytest


def _raising(args, kwargs):
    """What `assertRaises` does after the exception: a context, or a call inside one."""
    if not args:
        return pytest.raises()
    with pytest.raises():
        args[0](*args[1:], **kwargs)


class TestCase:
    """A test of its own for each method: fixtures have run once the object is there, and assertions hold."""

    def __init__(self, methodName="runTest"):
        self._testMethodName = methodName
        self.setUpClass()
        self.setUp()

    @classmethod
    def setUpClass(cls):
        pass

    def setUp(self):
        pass

    def tearDown(self):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def assertRaises(self, expected_exception, *args, **kwargs):
        return _raising(args, kwargs)

    def assertRaisesRegex(self, expected_exception, expected_regex, *args, **kwargs):
        return _raising(args, kwargs)

    def assertWarns(self, expected_warning, *args, **kwargs):
        return args[0](*args[1:], **kwargs) if args else contextlib.nullcontext(autograd_machine.unknown())

    def assertWarnsRegex(self, expected_warning, expected_regex, *args, **kwargs):
        return args[0](*args[1:], **kwargs) if args else contextlib.nullcontext(autograd_machine.unknown())

    def assertLogs(self, logger=None, level=None):
        return contextlib.nullcontext(autograd_machine.unknown())

    def assertNoLogs(self, logger=None, level=None):
        return contextlib.nullcontext()

    def subTest(self, *args, **kwargs):
        return contextlib.nullcontext()

    def __getattr__(self, name):
        """Assertions that only look, and what a subclass or a runner adds."""
        return _looks if name.startswith("assert") else autograd_machine.unknown()


def _looks(*args, **kwargs):
    pass
