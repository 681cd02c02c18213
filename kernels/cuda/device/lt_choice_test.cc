#include "kernels/cuda/device/lt_choice.h"

#include <gtest/gtest.h>

#include <set>

namespace fusegate::kernels {
namespace {

TEST(LtProblem, IsAnotherWhereAnythingDiffersThatTheAlgorithmDependsOn) {
  const LtProblem one{.m = 128, .n = 3072, .k = 768, .workspace_bytes = 1 << 20};
  std::set<LtProblem> problems{one, one};
  EXPECT_EQ(problems.size(), 1u);
  const auto add = [&](auto change) {
    LtProblem other = one;
    change(other);
    problems.insert(other);
  };
  add([](LtProblem& p) { p.m = 129; });
  add([](LtProblem& p) { p.n = 768; });
  add([](LtProblem& p) { p.k = 3072; });
  add([](LtProblem& p) { p.type = CUDA_R_16F; });
  add([](LtProblem& p) { p.compute = CUBLAS_COMPUTE_64F; });
  add([](LtProblem& p) { p.bias = true; });
  add([](LtProblem& p) { p.workspace_bytes = 0; });
  add([](LtProblem& p) { p.required = "algo 66"; });
  EXPECT_EQ(problems.size(), 9u);
}

}  // namespace
}  // namespace fusegate::kernels
