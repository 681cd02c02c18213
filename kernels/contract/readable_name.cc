#include "kernels/contract/readable_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace fusegate::kernels {

std::string readable_name(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? demangled.get() : name;
}

}  // namespace fusegate::kernels
