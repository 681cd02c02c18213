// What an implementation declares that one call launches. It is declared where the implementation
// is registered:
//
//   .expects = {{.stages = {expected_matmul("addmm")}}}
//
// What was seen is held against that by bench/profiling/launch_check.h. A name pattern is an
// extended regular expression (POSIX) that is searched for in the name.
#pragma once

#include <string>
#include <vector>

namespace fusegate::kernels {

// Kernels of one kind within a stage. Each kernel counts for the first kind whose pattern it fits.
struct ExpectedKernels {
  std::string what;     // for people: "GEMM"
  std::string pattern;  // of the demangled name
  int least = 1;
  int most = 1;
  // Where the stage's choice (Stage::choice) does not match this pattern, there must be no such
  // kernel. Empty: the choice does not matter.
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
