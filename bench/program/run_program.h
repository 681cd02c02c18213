// A benchmark program that is linked with its registrations, or that registers them when it runs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/plan/options.h"

namespace fusegate::bench {

// What a program is besides its registrations.
struct Program {
  SuiteSource suites = {};
  // Software that decides its speed, as Device::versions() has it.
  std::map<std::string, std::string> versions = {};
  std::function<void(const kernels::Device&)> opened = {};  // called with its device
  // The path of the executable and its arguments, which start the program again: after a lost
  // device, a fresh process measures the other benchmarks; other ranks are started so.
  std::vector<std::string> restart = {};
};

// Returns the exit code: 0, or 2 after an error, printed to stderr. argv[0] names the program.
int run_program(int argc, const char* const* argv, const Program& program);

}  // namespace fusegate::bench
