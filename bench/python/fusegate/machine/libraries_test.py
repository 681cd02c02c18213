"""Libraries that are here, and those that are not."""

import types
import unittest

from fusegate.errors import one_line
from fusegate.machine.libraries import find_libraries

WANTED = {"torch": ("torch", "torch"), "triton": ("triton", "triton"),
          "liger": ("liger-kernel", "liger_kernel", "liger_kernel.ops")}


class FindLibrariesTest(unittest.TestCase):
    def test_says_why_a_library_cannot_be_used(self):
        def load(name):
            if name == "liger_kernel.ops":
                raise ModuleNotFoundError("No module named 'packaging'")
            return types.SimpleNamespace(__version__=f"{name} 1")
        libraries = find_libraries(WANTED, load)
        self.assertEqual(libraries.versions, {"torch": "torch 1", "triton": "triton 1"})
        self.assertEqual(sorted(libraries.modules), ["torch", "triton"])
        self.assertEqual(libraries.missing, {
            "liger": "liger-kernel cannot be imported (ModuleNotFoundError: No module named 'packaging')"})

    def test_a_library_may_be_dropped_later(self):
        libraries = find_libraries(WANTED, lambda name: types.SimpleNamespace(__version__="1"))
        libraries.drop("triton", "it runs no kernel")
        self.assertEqual((sorted(libraries.modules), libraries.missing), (["liger", "torch"],
                                                                          {"triton": "it runs no kernel"}))


class OneLineTest(unittest.TestCase):
    def test_takes_the_first_line_that_says_something(self):
        self.assertEqual(one_line(RuntimeError("\n  CUDA out of memory. \nTried to allocate")),
                         "RuntimeError: CUDA out of memory.")
        self.assertEqual(one_line(AssertionError()), "AssertionError")
        self.assertEqual(one_line(OSError("no \udc80")), "OSError: no ?")
