import unittest


class TestCase(unittest.TestCase):
    pass
