"""How it is measured: devices, meters, the protocol's loop, and the run file."""
