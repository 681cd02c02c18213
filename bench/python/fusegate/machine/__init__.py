"""The machine that is measured on: its GPU by NVML, its CPU, the libraries, and whether any of it changes."""
