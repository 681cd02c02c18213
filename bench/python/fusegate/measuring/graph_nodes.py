"""Counts what a captured CUDA graph launches. torch hands out the graph but cannot list its nodes, so the driver does."""

import collections
import ctypes

# CUgraphNodeType, of the driver's stable ABI.
KERNEL, MEMCPY, MEMSET = 0, 1, 2

LaunchCount = collections.namedtuple("LaunchCount", "kernels memory_operations")


def count_launches(raw_graph, driver=None):
    """raw_graph: a cudaGraph_t as a number. None if the driver cannot list its nodes."""
    try:
        driver = driver or ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    graph, size = ctypes.c_void_p(raw_graph), ctypes.c_size_t(0)
    if driver.cuGraphGetNodes(graph, None, ctypes.byref(size)) != 0:
        return None
    nodes = (ctypes.c_void_p * size.value)()
    if size.value and driver.cuGraphGetNodes(graph, nodes, ctypes.byref(size)) != 0:
        return None
    kinds = []
    for node in nodes:
        kind = ctypes.c_int(-1)
        if driver.cuGraphNodeGetType(ctypes.c_void_p(node), ctypes.byref(kind)) != 0:
            return None
        kinds.append(kind.value)
    return LaunchCount(kinds.count(KERNEL), kinds.count(MEMCPY) + kinds.count(MEMSET))
