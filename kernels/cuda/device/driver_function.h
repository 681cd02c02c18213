// Functions of the CUDA driver, looked up at run time: a program must start without a driver.
#pragma once

namespace fusegate::kernels {

// Null where the driver does not have it. since: the CUDA version whose signature the caller
// declares, such as 12030 for 12.3. Toolkits before 12.5 ignore it and return the driver's own
// version.
void* driver_function(const char* name, unsigned since);

template <typename Function>
Function* driver_function(const char* name, unsigned since) {
  return reinterpret_cast<Function*>(driver_function(name, since));
}

}  // namespace fusegate::kernels
