// Every registered implementation against the double-precision reference, on every device that this
// machine has; and the check itself against kernels that are wrong on purpose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kernels/contract/verify.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {
namespace {

// Around vector widths and tile edges, and sizes that nothing divides. The first two reach
// every implementation.
const std::vector<Problem> kProblems{
    ladder_problem(1, 1, 8, 8, Dtype::kFp32),      ladder_problem(3, 43, 128, 264, Dtype::kFp32),
    ladder_problem(1, 7, 24, 40, Dtype::kFp32),    ladder_problem(1, 8, 64, 136, Dtype::kFp32),
    ladder_problem(1, 127, 72, 200, Dtype::kFp32), ladder_problem(2, 64, 128, 128, Dtype::kFp32),
    ladder_problem(1, 3, 5, 7, Dtype::kFp32),      ladder_problem(1, 33, 31, 129, Dtype::kFp32),
};

// The first two, once, where compute-sanitizer makes each a hundred times as long
// (ci/pipelines/sanitize_kernels.py).
bool has_few_shapes() { return std::getenv("FUSEGATE_FEW_SHAPES") != nullptr; }

std::unique_ptr<Device> open_or_null(const std::string& kind) {
  try {
    return open_device(kind);
  } catch (const DeviceError&) {
    return nullptr;
  }
}

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

class EveryImplementation : public testing::TestWithParam<std::string> {};

TEST_P(EveryImplementation, AgreesWithTheReference) {
  const std::unique_ptr<Device> device = open_or_null(GetParam());
  if (device == nullptr) GTEST_SKIP() << "this machine has no " << GetParam() << " device";
  std::set<const Implementation*> checked;
  for (const std::uint64_t seed : has_few_shapes() ? std::vector{1u} : std::vector{1u, 2u}) {
    Verifier verifier(*device, seed);
    for (const Problem& problem :
         problems_in_all_formats(has_few_shapes() ? 2 : kProblems.size())) {
      for (const Implementation& implementation : implementations()) {
        if (!refusal(implementation, *device, problem).empty()) continue;
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
      if (!refusal(implementation, *device, problem).empty()) continue;
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

PreparedKernel run_on_host(std::function<void()> work) {
  PreparedKernel kernel;
  kernel.stages.push_back({"host", 0, 0, std::move(work), ""});
  return kernel;
}

Implementation wrong_geglu(decltype(Implementation::prepare) prepare) {
  return {.operation = "geglu",
          .name = "wrong",
          .device = "cpu",
          .dtypes = {Dtype::kFp32},
          .prepare = std::move(prepare)};
}

const Problem kSmall = ladder_problem(1, 4, 1, 16, Dtype::kFp32);

TEST(Verifier, SeesAnElementThatWasNeverWritten) {
  const auto device = open_device("cpu");
  const auto fused = wrong_geglu([](Device& device, const LadderProblem& problem, Inputs in,
                                    const Tensor& out) {
    // Everything but the last row.
    const Problem shorter = ladder_problem(1, problem.rows() - 1, 1, problem.hidden, problem.dtype);
    for (const Implementation& i : implementations()) {
      if (i.operation == "geglu" && i.name == "fused" && i.device == "cpu") {
        const auto cut = [](Tensor t) { return Tensor{t.data, {t.rows() - 1, t.cols()}, t.dtype}; };
        const std::vector<Tensor> inputs{cut(in[0]), cut(in[1])};
        return i.prepare(device, shorter, inputs, cut(out));
      }
    }
    return PreparedKernel{};
  });
  const Verification result = Verifier(*device, 1).verify(fused, kSmall);
  EXPECT_FALSE(result.passed());
  EXPECT_EQ(result.not_finite, kSmall.at("hidden"));
  EXPECT_THAT(result.message(), testing::HasSubstr("never written"));
}

TEST(Verifier, SeesTheWrongFunction) {
  const auto device = open_device("cpu");
  const auto copies_u =
      wrong_geglu([](Device&, const Problem&, std::span<const Tensor> in, const Tensor& out) {
        return run_on_host([from = in[1], out] { std::memcpy(out.data, from.data, out.bytes()); });
      });
  const Verification result = Verifier(*device, 1).verify(copies_u, kSmall);
  EXPECT_FALSE(result.passed());
  EXPECT_GT(result.relative_error, 0.1);
  EXPECT_THAT(result.message(), testing::HasSubstr("relative error"));
}

TEST(Verifier, PoisonsTheOutputBeforeEveryKernel) {
  const auto device = open_device("cpu");
  Verifier verifier(*device, 1);
  for (const Implementation& i : implementations()) {
    if (i.operation == "geglu" && i.device == "cpu") {
      EXPECT_TRUE(verifier.verify(i, kSmall).passed());
    }
  }
  const auto nothing = wrong_geglu([](Device&, const Problem&, std::span<const Tensor>,
                                      const Tensor&) { return PreparedKernel{}; });
  EXPECT_FALSE(verifier.verify(nothing, kSmall).passed());
}

}  // namespace
}  // namespace fusegate::kernels
