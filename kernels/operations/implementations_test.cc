// Every registered implementation against the double-precision reference, on every device that this
// machine has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kernels/contract/device_test.h"
#include "kernels/contract/verify.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {
namespace {

// Around vector widths and tile edges, and sizes that nothing divides. The first two reach
// every implementation.
const std::vector<Problem> kProblems{
    ladder_problem(1, 1, 8, 8, Dtype::kFp32),      ladder_problem(3, 43, 128, 272, Dtype::kFp32),
    ladder_problem(1, 7, 24, 40, Dtype::kFp32),    ladder_problem(1, 8, 64, 136, Dtype::kFp32),
    ladder_problem(1, 127, 72, 200, Dtype::kFp32), ladder_problem(2, 64, 128, 128, Dtype::kFp32),
    ladder_problem(1, 3, 5, 7, Dtype::kFp32),      ladder_problem(1, 33, 31, 129, Dtype::kFp32),
};

// The first two, once, where compute-sanitizer makes each a hundred times as long
// (ci/pipelines/sanitize_kernels.py), and under AddressSanitizer.
bool has_few_shapes() { return std::getenv("FUSEGATE_FEW_SHAPES") != nullptr; }

// The first so many, in every format.
std::vector<Problem> problems_in_all_formats(std::size_t count) {
  std::vector<Problem> problems;
  for (Problem problem : std::span(kProblems).first(count)) {
    for (const Dtype dtype : all_dtypes()) {
      problem.dtype = dtype;
      problems.push_back(problem);
    }
  }
  return problems;
}

class EveryImplementation : public DeviceTest {};

TEST_P(EveryImplementation, AgreesWithTheReference) {
  std::set<const Implementation*> checked;
  for (const std::uint64_t seed : has_few_shapes() ? std::vector{1u} : std::vector{1u, 2u}) {
    Verifier verifier(*device_, seed);
    for (const Problem& problem :
         problems_in_all_formats(has_few_shapes() ? 2 : kProblems.size())) {
      for (const Implementation& implementation : implementations()) {
        if (!refusal(implementation, *device_, problem).empty()) continue;
        const Verification result = verifier.verify(implementation, problem);
        EXPECT_TRUE(result.passed())
            << benchmark_name(implementation, problem) << ": " << result.message();
        checked.insert(&implementation);
      }
    }
  }
  EXPECT_FALSE(checked.empty());
  for (const Problem& problem : problems_in_all_formats(kProblems.size())) {
    for (const Implementation& implementation : implementations()) {
      if (!refusal(implementation, *device_, problem).empty()) continue;
      EXPECT_TRUE(checked.contains(&implementation)) << benchmark_name(implementation, problem);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, EveryImplementation, testing::Values("cpu", "cuda"),
                         [](const auto& info) { return info.param; });

TEST(ImplementationNames, AreRecordedFromTheSourcesOfAllThatRegister) {
  const std::set<std::string> recorded{
#include "kernels/contract/implementation_names.inc"
  };
  std::set<std::string> registered;
  for (const Implementation& implementation : implementations()) {
    registered.insert(implementation.name);
  }
  EXPECT_TRUE(std::ranges::includes(recorded, registered));
#ifdef FUSEGATE_TEST_WITH_ALL_DEVICES
  EXPECT_EQ(recorded, registered);
#endif
  // Whatever this build leaves out.
  EXPECT_THAT(implementation_names(), testing::IsSupersetOf({"cublas", "fused_epilogue_sm90",
                                                             "fused_specialized", "onednn"}));
  EXPECT_TRUE(std::ranges::is_sorted(implementation_names()));
}

const Problem kSmall = ladder_problem(1, 4, 1, 16, Dtype::kFp32);

TEST(Verifier, PoisonsTheOutputBeforeEveryKernel) {
  const auto device = open_device("cpu");
  Verifier verifier(*device, 1);
  EXPECT_TRUE(verifier.verify(find_implementation("geglu", "fused", "cpu"), kSmall).passed());
  const Implementation nothing{.operation = "geglu",
                               .name = "nothing",
                               .device = "cpu",
                               .dtypes = {Dtype::kFp32},
                               .prepare = [](auto&&...) { return PreparedKernel{}; }};
  const Verification result = verifier.verify(nothing, kSmall);
  EXPECT_FALSE(result.passed());
  EXPECT_EQ(result.not_finite, 4 * 16);
  EXPECT_THAT(result.message(), testing::HasSubstr("never written"));
}

}  // namespace
}  // namespace fusegate::kernels
