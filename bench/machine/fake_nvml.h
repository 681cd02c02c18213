// For tests: a libnvidia-ml.so.1 that answers from a script. Loaded before the real one, or found
// before it in LD_LIBRARY_PATH, it replaces the driver for fusegate_bench.
#pragma once

extern "C" {

// script: "name=value@seconds", separated by commas. A value applies this many seconds after the
// library was opened, or at once; the last applicable one counts. FUSEGATE_FAKE_NVML is such a
// script for a whole program. Names: fake_nvml.cc's kDefaults.
void fusegate_fake_nvml_pretend(const char* script);

}  // extern "C"
