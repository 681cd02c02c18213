// Constructed profiles: no GPU.
#include "bench/profiling/launch_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace fusegate::bench {
namespace {

using testing::ElementsAre;

const kernels::ExpectedKernels kGemm{"GEMM", "gemm|nvjet"};
const kernels::ExpectedKernels kReduction{"split-K reduction", "splitKreduce", 1, 1,
                                          "split-k [2-9]"};

// linear/addmm and geglu/unfused in short.
const std::vector<kernels::Expectation> kLinear{
    {.stages = {{.name = "addmm", .kernels = {kReduction, kGemm}, .most_memory_operations = 1}}}};
const std::vector<kernels::Expectation> kGeglu{
    {.stages = {{.name = "gelu", .kernels = {{"gelu", "Gelu,"}}},
                {.name = "mul", .kernels = {{"mul", "Mul,"}}}},
     .calls = {{"launches", "^cudaLaunchKernel", 2, 2}, {"occupancy queries", "Occupancy"}}}};

std::vector<baselines::ExpectationPart> parts_of(const std::vector<kernels::Expectation>& expects,
                                                 const SeenTrace& seen) {
  kernels::Implementation implementation;
  implementation.expects = expects;
  return check_trace(implementation, seen).value().parts;
}
bool met(const std::vector<baselines::ExpectationPart>& parts) {
  return baselines::TraceExpectation{parts}.met();
}

TEST(CheckTrace, IsMetByWhatItDeclares) {
  EXPECT_TRUE(met(parts_of(kLinear, {{{"addmm", "split-k 1", {"nvjet_tst_a"}, 0}}})));
  EXPECT_TRUE(met(parts_of(kLinear, {{{"addmm", "split-k 1", {"nvjet_tst_a"}, 1}}})));
}

TEST(CheckTrace, AsksForASecondKernelWhereTheChoiceSaysSoAndNowhereElse) {
  const std::vector<std::string> two{"nvjet_splitK_TNT", "cublasLt::splitKreduce_kernel<32>"};
  EXPECT_TRUE(met(parts_of(kLinear, {{{"addmm", "algo 66, split-k 2", two}}})));
  EXPECT_FALSE(met(parts_of(kLinear, {{{"addmm", "algo 66, split-k 1", two}}})));
  EXPECT_FALSE(met(parts_of(kLinear, {{{"addmm", "algo 66, split-k 2", {two[0]}}}})));
}

TEST(CheckTrace, ShowsExpectedAndSeenSideBySide) {
  const auto parts =
      parts_of(kLinear, {{{"addmm", "split-k 1", {"nvjet_tst_a", "bias_add_kernel"}, 2}}});
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_FALSE(parts[0].met);
  EXPECT_EQ(parts[0].part, "addmm");
  EXPECT_EQ(parts[0].expected, "1 GEMM, at most 1 memory operation");
  EXPECT_EQ(parts[0].seen, "nvjet_tst_a, bias_add_kernel, 2 memory operations");
}

TEST(CheckTrace, SeesAKernelThatIsMissing) {
  const auto parts = parts_of(kGeglu, {{{"gelu", "", {"k<Gelu, 1>"}}, {"mul"}}});
  EXPECT_TRUE(parts.at(0).met);
  EXPECT_FALSE(parts.at(1).met);
  EXPECT_EQ(parts.at(1).seen, "nothing");
}

TEST(CheckTrace, SeesAKernelInTheWrongStage) {
  EXPECT_FALSE(met(parts_of(kGeglu, {{{"gelu", "", {"k<Gelu, 1>", "k<Mul, 1>"}}, {"mul"}}})));
}

TEST(CheckTrace, CountsCallsWhereTheyAreKnown) {
  SeenTrace seen{{{"gelu", "", {"k<Gelu, 1>"}}, {"mul", "", {"k<Mul, 1>"}}}};
  EXPECT_EQ(parts_of(kGeglu, seen).size(), 2u);
  seen.calls = {"cudaLaunchKernelExC", "cuLaunchKernelEx", "cudaLaunchKernelExC"};
  EXPECT_TRUE(met(parts_of(kGeglu, seen)));
  seen.calls->push_back("cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const auto parts = parts_of(kGeglu, seen);
  EXPECT_EQ(parts.back().expected, "no occupancy queries");
  EXPECT_EQ(parts.back().seen, "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  EXPECT_FALSE(parts.back().met);
}

TEST(CheckTrace, IsNotMetByWhatRunsOutsideOfStages) {
  SeenTrace seen{{{"addmm", "split-k 1", {"nvjet_tst_a"}}}};
  seen.stray_kernels = {"transpose"};
  EXPECT_EQ(parts_of(kLinear, seen).back().seen, "transpose");
  EXPECT_FALSE(met(parts_of(kLinear, seen)));
}

TEST(CheckTrace, ChoosesAmongAlternativesByStages) {
  std::vector<kernels::Expectation> either = kLinear;
  either.push_back(kGeglu[0]);
  EXPECT_TRUE(met(parts_of(either, {{{"gelu", "", {"k<Gelu, 1>"}}, {"mul", "", {"k<Mul, 1>"}}}})));
  const auto parts = parts_of(either, {{{"mul", "", {"k<Mul, 1>"}}}});
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_FALSE(parts[0].met);
  EXPECT_EQ(parts[0].expected, "addmm");
  EXPECT_EQ(parts[0].seen, "mul");
}

TEST(CheckTrace, CutsNamesOfAnyLength) {
  const std::string name(5000, 'x');
  EXPECT_LT(parts_of(kLinear, {{{"addmm", "", {name}}}}).at(0).seen.size(), 200u);
}

TEST(CheckTrace, RefusesAPatternThatIsNone) {
  const std::vector<kernels::Expectation> broken{
      {.stages = {{.name = "a", .kernels = {{"b", "("}}}}}};
  EXPECT_THROW(parts_of(broken, {{{"a", "", {"k"}}}}), std::invalid_argument);
}

// Checked without a GPU: whoever adds a kernel for one says what its trace contains.
TEST(CheckTrace, IsDeclaredByEveryImplementationOnCuda) {
  for (const kernels::Implementation& implementation : kernels::implementations()) {
    if (implementation.device != "cuda") continue;
    SCOPED_TRACE(implementation.operation + "/" + implementation.name);
    ASSERT_FALSE(implementation.expects.empty());
    for (const kernels::Expectation& expectation : implementation.expects) {
      SeenTrace seen{.stages = {}, .calls = std::vector<std::string>{"cudaLaunchKernel"}};
      for (const kernels::ExpectedStage& stage : expectation.stages) {
        seen.stages.push_back({.name = stage.name, .choice = "none", .kernels = {"none of them"}});
      }
      EXPECT_FALSE(met(parts_of(implementation.expects, seen)));
    }
  }
}

std::vector<kernels::Stage> gelu_and_mul() {
  std::vector<kernels::Stage> stages(2);
  stages[0].name = "gelu";
  stages[0].choice = "a choice";
  stages[1].name = "mul";
  return stages;
}

baselines::CallProfile profile_of(const std::vector<std::pair<std::string, std::string>>& kernels) {
  baselines::CallProfile profile;
  for (const auto& [name, stage] : kernels) {
    profile.kernels.push_back({.name = name, .span = {.stage = stage}});
  }
  return profile;
}

TEST(SeenTrace, SortsWhatRanIntoStages) {
  baselines::CallProfile profile =
      profile_of({{"k_gelu", "gelu"}, {"k_mul", "mul"}, {"k_mul2", "mul"}});
  profile.memory_operations = {{.kind = "memset", .span = {.stage = "mul"}}};
  profile.calls = {{.name = "cudaLaunchKernel"}, {.name = "cudaMemsetAsync"}};
  const SeenTrace trace = seen_trace(profile, gelu_and_mul());
  ASSERT_EQ(trace.stages.size(), 2u);
  EXPECT_EQ(trace.stages[0].choice, "a choice");
  EXPECT_THAT(trace.stages[0].kernels, ElementsAre("k_gelu"));
  EXPECT_THAT(trace.stages[1].kernels, ElementsAre("k_mul", "k_mul2"));
  EXPECT_EQ(trace.stages[1].memory_operations, 1);
  EXPECT_THAT(*trace.calls, ElementsAre("cudaLaunchKernel", "cudaMemsetAsync"));
  EXPECT_TRUE(trace.stray_kernels.empty());
}

TEST(SeenTrace, KeepsWhatNoStageLaunchedApart) {
  baselines::CallProfile profile =
      profile_of({{"k_gelu", "gelu"}, {"stray", ""}, {"other", "elsewhere"}});
  profile.memory_operations = {{.kind = "memcpy"}};
  const SeenTrace trace = seen_trace(profile, gelu_and_mul());
  EXPECT_THAT(trace.stray_kernels, ElementsAre("stray", "other"));
  EXPECT_EQ(trace.stray_memory_operations, 1);
}

TEST(CheckTrace, SaysNothingWhereNothingIsDeclared) {
  EXPECT_FALSE(check_trace(kernels::Implementation{}, seen_trace({}, gelu_and_mul())).has_value());
}

}  // namespace
}  // namespace fusegate::bench
