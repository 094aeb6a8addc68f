import unittest

import torch
from nose.tools import assert_equal, assert_is_instance, assert_raises
from solution import Shelf, noisy


class ShelfTest(unittest.TestCase):
    room = 2

    def setUp(self):
        self.shelf = Shelf(self.room)
        self.shelf.put("a")

    def test_put(self):
        self.shelf.put("b")
        self.assertEqual(self.shelf.names(), ["a", "b"], "in order")
        self.assertIn("b", self.shelf.names())
        self.assertTrue(self.shelf.is_full())

    def test_full(self):
        self.shelf.put("b")
        with self.assertRaises(ValueError) as caught:
            self.shelf.put("c")
        self.assertIs(type(caught.exception), ValueError)

    def test_share(self):
        self.assertAlmostEqual(self.shelf.share(), 0.5001, places=3)
        self.assertAlmostEqual(self.shelf.share(), 0.6, delta=0.11)
        self.assertFalse(self.shelf.is_full())
        self.assertCountEqual(self.shelf.names(), ("a",))


def test_names_are_a_list():
    assert_is_instance(Shelf(1).names(), list)
    assert_equal(Shelf(1).names(), [])
    with assert_raises(ValueError):
        Shelf(0).put("a")


def test_noisy_numbers():
    torch.manual_seed(0)
    noise = torch.randn(3)
    expected = torch.tensor([2.5410, 0.7066, -1.1788])
    torch.testing.assert_close(noisy(torch.ones(3), noise), expected, rtol=0, atol=1e-4)
