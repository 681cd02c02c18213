// Constructed traces: no GPU.
#include "kernels/contract/expectation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/contract/kernel.h"

namespace fusegate::kernels {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const ExpectedKernels kGemm{"GEMM", "gemm|nvjet"};
const ExpectedKernels kReduction{"split-K reduction", "splitKreduce", 1, 1, "split-k [2-9]"};

// linear/addmm and geglu/unfused in short.
const std::vector<Expectation> kLinear{
    {.stages = {{.name = "addmm", .kernels = {kReduction, kGemm}, .most_memory_operations = 1}}}};
const std::vector<Expectation> kGeglu{
    {.stages = {{.name = "gelu", .kernels = {{"gelu", "Gelu,"}}},
                {.name = "mul", .kernels = {{"mul", "Mul,"}}}},
     .calls = {{"launches", "^cudaLaunchKernel", 2, 2}, {"occupancy queries", "Occupancy"}}}};

bool met(const std::vector<CheckedPart>& parts) {
  return std::ranges::all_of(parts, &CheckedPart::met);
}

TEST(Expectation, IsMetByWhatItDeclares) {
  EXPECT_TRUE(met(check_expectation(kLinear, {{{"addmm", "split-k 1", {"nvjet_tst_a"}, 0}}})));
  EXPECT_TRUE(met(check_expectation(kLinear, {{{"addmm", "split-k 1", {"nvjet_tst_a"}, 1}}})));
}

TEST(Expectation, AsksForASecondKernelWhereTheChoiceSaysSoAndNowhereElse) {
  const std::vector<std::string> two{"nvjet_splitK_TNT", "cublasLt::splitKreduce_kernel<32>"};
  EXPECT_TRUE(met(check_expectation(kLinear, {{{"addmm", "algo 66, split-k 2", two}}})));
  EXPECT_FALSE(met(check_expectation(kLinear, {{{"addmm", "algo 66, split-k 1", two}}})));
  EXPECT_FALSE(met(check_expectation(kLinear, {{{"addmm", "algo 66, split-k 2", {two[0]}}}})));
}

TEST(Expectation, ShowsExpectedAndSeenSideBySide) {
  const auto parts =
      check_expectation(kLinear, {{{"addmm", "split-k 1", {"nvjet_tst_a", "bias_add_kernel"}, 2}}});
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_FALSE(parts[0].met);
  EXPECT_EQ(parts[0].part, "addmm");
  EXPECT_EQ(parts[0].expected, "1 GEMM, at most 1 memory operation");
  EXPECT_EQ(parts[0].seen, "nvjet_tst_a, bias_add_kernel, 2 memory operations");
}

TEST(Expectation, SeesAKernelThatIsMissing) {
  const auto parts = check_expectation(kGeglu, {{{"gelu", "", {"k<Gelu, 1>"}}, {"mul"}}});
  EXPECT_TRUE(parts.at(0).met);
  EXPECT_FALSE(parts.at(1).met);
  EXPECT_EQ(parts.at(1).seen, "nothing");
}

TEST(Expectation, SeesAKernelInTheWrongStage) {
  EXPECT_FALSE(
      met(check_expectation(kGeglu, {{{"gelu", "", {"k<Gelu, 1>", "k<Mul, 1>"}}, {"mul"}}})));
}

TEST(Expectation, CountsCallsWhereTheyAreKnown) {
  SeenTrace seen{{{"gelu", "", {"k<Gelu, 1>"}}, {"mul", "", {"k<Mul, 1>"}}}};
  EXPECT_EQ(check_expectation(kGeglu, seen).size(), 2u);
  seen.calls = {"cudaLaunchKernelExC", "cuLaunchKernelEx", "cudaLaunchKernelExC"};
  EXPECT_TRUE(met(check_expectation(kGeglu, seen)));
  seen.calls->push_back("cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const auto parts = check_expectation(kGeglu, seen);
  EXPECT_EQ(parts.back().expected, "no occupancy queries");
  EXPECT_EQ(parts.back().seen, "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  EXPECT_FALSE(parts.back().met);
}

TEST(Expectation, IsNotMetByWhatRunsOutsideOfStages) {
  SeenTrace seen{{{"addmm", "split-k 1", {"nvjet_tst_a"}}}};
  seen.stray_kernels = {"transpose"};
  EXPECT_EQ(check_expectation(kLinear, seen).back().seen, "transpose");
  EXPECT_FALSE(met(check_expectation(kLinear, seen)));
}

TEST(Expectation, ChoosesAmongAlternativesByStages) {
  std::vector<Expectation> either = kLinear;
  either.push_back(kGeglu[0]);
  EXPECT_TRUE(
      met(check_expectation(either, {{{"gelu", "", {"k<Gelu, 1>"}}, {"mul", "", {"k<Mul, 1>"}}}})));
  const auto parts = check_expectation(either, {{{"mul", "", {"k<Mul, 1>"}}}});
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_FALSE(parts[0].met);
  EXPECT_EQ(parts[0].expected, "addmm");
  EXPECT_EQ(parts[0].seen, "mul");
}

TEST(Expectation, CutsNamesOfAnyLength) {
  const std::string name(5000, 'x');
  EXPECT_LT(check_expectation(kLinear, {{{"addmm", "", {name}}}}).at(0).seen.size(), 200u);
}

TEST(Expectation, RefusesAPatternThatIsNone) {
  const std::vector<Expectation> broken{{.stages = {{.name = "a", .kernels = {{"b", "("}}}}}};
  EXPECT_THROW(check_expectation(broken, {{{"a", "", {"k"}}}}), std::invalid_argument);
}

// Checked without a GPU: whoever adds a kernel for one says what its trace contains.
TEST(Expectation, IsDeclaredByEveryImplementationOnCuda) {
  for (const Implementation& implementation : implementations()) {
    if (implementation.device != "cuda") continue;
    SCOPED_TRACE(implementation.operation + "/" + implementation.name);
    ASSERT_FALSE(implementation.expects.empty());
    for (const Expectation& expectation : implementation.expects) {
      SeenTrace seen{.stages = {}, .calls = std::vector<std::string>{"cudaLaunchKernel"}};
      for (const ExpectedStage& stage : expectation.stages) {
        seen.stages.push_back({.name = stage.name, .choice = "none", .kernels = {"none of them"}});
      }
      EXPECT_FALSE(met(check_expectation(implementation.expects, seen)));
    }
  }
}

}  // namespace
}  // namespace fusegate::kernels
