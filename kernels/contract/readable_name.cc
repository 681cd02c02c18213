#include "kernels/contract/readable_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <regex>

namespace fusegate::kernels {
namespace {

// A kernel that a build slows on purpose (cuda/planted/slowdown.cuh) gets its original's name, so
// that it is reported as the same kernel, slower.
std::string as_unslowed(const std::string& name) {
  constexpr const char* kPlanted = "fusegate::kernels::planted::";
  if (name.find(kPlanted) == std::string::npos) return name;
  static const std::regex hold(std::string(kPlanted) + R"(\w+Steps(<\d+u>)?, )");
  return std::regex_replace(std::regex_replace(name, hold, ""), std::regex(kPlanted),
                            "fusegate::kernels::(anonymous namespace)::");
}

}  // namespace

std::string readable_name(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? as_unslowed(demangled.get()) : name;
}

}  // namespace fusegate::kernels
