"""Watches the machine while it measures, and notes the doubts of bench/machine/environment_probe.cc that move times:
other processes, slowdowns, clocks. fusegate_bench's plan says what the machine is at the start."""

import math

# A locked clock stays within this share of itself.
LOCKED_CLOCK_SPREAD = 0.005


class Watch:
    """nvml: an nvml.Nvml, or None. uuid: the GPU's. doubts: those that are known already."""

    def __init__(self, nvml, uuid, doubts):
        self._nvml, self._uuid = nvml, uuid
        self.doubts, self.throttle_reasons = set(doubts), []
        self._lowest_hz, self._highest_hz = math.inf, 0.0
        self.look()

    def look(self):
        """At the machine's state once more; between places, never within a sample."""
        state = self._nvml.state(self._uuid) if self._nvml else None
        if state is None:
            self.doubts.add("nvml_missing")
            return
        if state.compute_processes > 1:
            self.doubts.add("other_gpu_process")
        self.throttle_reasons = state.throttle_reasons
        # A software power cap is none: a GEMM runs at its power limit whenever it runs long enough.
        if any(reason.endswith("slowdown") for reason in state.throttle_reasons):
            self.doubts.add("throttled")

    def saw_clock(self, hz):
        if math.isnan(hz):
            return
        self._lowest_hz, self._highest_hz = min(self._lowest_hz, hz), max(self._highest_hz, hz)
        if self._highest_hz > (1 + LOCKED_CLOCK_SPREAD) * self._lowest_hz:
            self.doubts.add("unlocked_clocks")
