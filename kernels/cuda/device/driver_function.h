// Functions of the CUDA driver, looked up when they are needed and not linked: a program must start
// where there is no driver.
#pragma once

namespace fusegate::kernels {

// Null where the driver has none of that name. since: the CUDA version, such as 12030 for 12.3,
// from which on it is what the caller declares. It is asked for where the toolkit can, from 12.5
// on; before, the driver gives what its own version has.
void* driver_function(const char* name, unsigned since);

template <typename Function>
Function* driver_function(const char* name, unsigned since) {
  return reinterpret_cast<Function*>(driver_function(name, since));
}

}  // namespace fusegate::kernels
