// For tests: a libnvidia-ml.so.1 that says what it is told to. Where it is loaded before the real
// one, or found before it in LD_LIBRARY_PATH, fusegate_bench asks it in place of the driver.
#pragma once

extern "C" {

// script: "name=value@seconds", separated by commas. A value holds from so many seconds after the
// library was opened, at once without them; the last that holds counts. FUSEGATE_FAKE_NVML is such
// a script for a whole program. Names: those of fake_nvml.cc's kDefaults.
void fusegate_fake_nvml_pretend(const char* script);

}  // extern "C"
