// What one call launches, declared where an implementation is registered:
//
//   .expects = {{.stages = {expected_matmul("addmm")}}}
//
// bench/profiling/launch_check.h compares a profile with it. A pattern is a POSIX extended regular
// expression that is searched for in the name.
#pragma once

#include <string>
#include <vector>

namespace fusegate::kernels {

// Kernels of one kind within a stage. A kernel counts for the first kind whose pattern it matches.
struct ExpectedKernels {
  std::string what;     // for people: "GEMM"
  std::string pattern;  // of the demangled name
  int least = 1;
  int most = 1;
  // No such kernel is expected where Stage::choice does not match this pattern. Empty: the choice
  // does not matter.
  std::string if_choice = {};
};

struct ExpectedStage {
  std::string name;
  std::vector<ExpectedKernels> kernels;
  int least_memory_operations = 0;  // memsets and copies
  int most_memory_operations = 0;
};

// Calls of CUDA's runtime and driver within the whole call.
struct ExpectedCalls {
  std::string what;  // for people: "occupancy queries"
  std::string pattern;
  int least = 0;
  int most = 0;
};

struct Expectation {
  std::vector<ExpectedStage> stages;  // every stage, in order
  std::vector<ExpectedCalls> calls = {};
};

}  // namespace fusegate::kernels
