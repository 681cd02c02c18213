"""Launches of a graph, from a driver that is asked as the real one is."""

import unittest

from fusegate.measuring.graph_nodes import KERNEL, MEMCPY, MEMSET, LaunchCount, count_launches

EVENT_RECORD = 7


class FakeDriver:
    def __init__(self, kinds, status=0):
        self._kinds, self._status = kinds, status

    # The driver's names and pointers.
    def cuGraphGetNodes(self, _graph, nodes, size):  # pylint: disable=invalid-name
        size._obj.value = len(self._kinds)
        for i in range(len(self._kinds) if nodes else 0):
            nodes[i] = i + 1
        return self._status

    def cuGraphNodeGetType(self, node, kind):  # pylint: disable=invalid-name
        kind._obj.value = self._kinds[node.value - 1]
        return 0


class CountLaunchesTest(unittest.TestCase):
    def test_counts_kernels_and_memory_operations(self):
        driver = FakeDriver([KERNEL, EVENT_RECORD, MEMSET, KERNEL, MEMCPY, KERNEL])
        self.assertEqual(count_launches(1, driver), LaunchCount(3, 2))

    def test_an_empty_graph_launches_nothing(self):
        self.assertEqual(count_launches(1, FakeDriver([])), LaunchCount(0, 0))

    def test_is_unknown_where_the_driver_does_not_say(self):
        self.assertIsNone(count_launches(1, FakeDriver([KERNEL], status=1)))
