// What an implementation declares that one call launches, and the check of a trace against that. It
// is declared where the implementation is registered:
//
//   .expects = {{.stages = {expected_matmul("addmm")}}}
//
// A name pattern is an extended regular expression (POSIX) that is searched for in the name.
#pragma once

#include <map>
#include <optional>
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

// What was seen of one call.
struct SeenStage {
  std::string name;
  std::string choice = {};
  std::vector<std::string> kernels = {};
  int memory_operations = 0;
};

struct SeenTrace {
  std::vector<SeenStage> stages;  // as the prepared kernel has them
  // What ran outside of any stage.
  std::vector<std::string> stray_kernels = {};
  int stray_memory_operations = 0;
  // Nothing where whoever looked could not see calls.
  std::optional<std::vector<std::string>> calls = {};
};

// One thing that was declared, beside what was seen of it.
struct CheckedPart {
  std::string part;
  std::string expected;
  std::string seen;
  bool met = false;
};

// Compares the trace with the alternative that has its stages, or with the first where none has. An
// implementation declares several where it is composed in several ways. alternatives must not be
// empty. Throws std::invalid_argument for a pattern that is none.
std::vector<CheckedPart> check_expectation(const std::vector<Expectation>& alternatives,
                                           const SeenTrace& seen);

}  // namespace fusegate::kernels
