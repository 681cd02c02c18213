"""Two exceptions: one for what a person has to mend, one for a GPU that is gone."""


class InputError(Exception):
    """source: the file or flag. field: a path such as "sweeps[0].batch"; may be empty."""

    def __init__(self, source, field, problem):
        super().__init__(": ".join(str(part) for part in (source, field, problem) if part))


class DeviceLost(Exception):
    """The CUDA context is broken: every later call would fail, whatever it is."""
