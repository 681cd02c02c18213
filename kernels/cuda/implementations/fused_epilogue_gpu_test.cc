// Which kernels fused_epilogue launches. Without code for sm_90a: those for sm_80 or the library's,
// whichever measured faster, unless a choice is pinned. With it: the pair of products that measured
// fastest together.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/cuda/autotuning/launch_choice.h"
#include "kernels/cuda/gemm/sm90/products.h"
#include "kernels/cuda/implementations/implementation_test_fixture.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {
namespace {

const Problem kProblem = ladder_problem(1, 128, 768, 3072, Dtype::kBf16);

class TwoKernelsOrMore : public ImplementationTest {
 protected:
  bool is_sm90() { return refuses_sm90(*device_).empty(); }
  PreparedKernel fused_epilogue() { return prepared("geglu_mlp", "fused_epilogue", kProblem); }
};

using Names = std::vector<std::string>;
const Activation& kGelu = kActivationOf<GeluTanh>;
const Names kTwoStages{kGelu.gate_up_stage(), "down_proj"};
const Names kThreeStages{"gate_up_proj", kGelu.gated_stage(), "down_proj"};
const Names kFourStages{"gate_proj", "up_proj", kGelu.gated_stage(), "down_proj"};

Names stages_of(const PreparedKernel& kernel) {
  Names names;
  for (const Stage& stage : kernel.stages) names.push_back(stage.name);
  return names;
}

StageChoices choices_of(const PreparedKernel& kernel) {
  StageChoices choices;
  for (const Stage& stage : kernel.stages) {
    if (!stage.choice.empty()) choices[stage.name] = stage.choice;
  }
  return choices;
}

TEST_F(TwoKernelsOrMore, AreTakenAsWasMeasuredBefore) {
  const Names more = is_sm90() ? kThreeStages : kFourStages;
  const bool is_two = stages_of(fused_epilogue()) == kTwoStages;
  EXPECT_EQ(stages_of(fused_epilogue()), is_two ? kTwoStages : more);
  int known = 0;
  for (auto& [what, taken] : device_->launch_choices()) {
    if (what.find("two kernels or more") == std::string::npos) continue;
    EXPECT_EQ(taken.index, is_two ? 0u : 1u);
    taken.index = 1 - taken.index;
    ++known;
  }
  EXPECT_EQ(known, 1);
  EXPECT_EQ(stages_of(fused_epilogue()), is_two ? more : kTwoStages);
}

// Both, whichever is faster here.
TEST_F(TwoKernelsOrMore, AreTakenAsARequiredPinnedChoiceSays) {
  const std::string two_is = is_sm90() ? "fused_epilogue_sm90" : "fused_epilogue_sm80";
  const PreparedKernel two = prepared("geglu_mlp", two_is, kProblem);
  const PreparedKernel three = prepared("geglu_mlp", "packed_pointwise", kProblem);
  const PreparedKernel four = prepared("geglu_mlp", "fused_pointwise_tuned", kProblem);
  for (const PreparedKernel* const pinned : {&two, &three, &four}) {
    device_->pin_choices({.choices = choices_of(*pinned), .required = true});
    const PreparedKernel kernel = fused_epilogue();
    EXPECT_EQ(stages_of(kernel), stages_of(*pinned));
    EXPECT_EQ(choices_of(kernel), choices_of(*pinned));
  }
  for (const auto& [what, taken] : device_->launch_choices()) {
    EXPECT_EQ(what.find("two kernels or more"), std::string::npos) << "it was measured";
  }
}

class WithSm90 : public ImplementationTest {
 protected:
  void SetUp() override {
    ImplementationTest::SetUp();
    if (IsSkipped()) return;
    if (const std::string why = refuses_sm90(*device_); !why.empty()) GTEST_SKIP() << why;
  }
  PreparedKernel fused_epilogue(const Problem& problem) {
    return prepared("geglu_mlp", "fused_epilogue", problem);
  }
  auto tuned_pairs() const {
    return std::ranges::count_if(device_->launch_choices(), [](const auto& choice) {
      return choice.first.find("\nthen\n") != std::string::npos;
    });
  }
};

TEST_F(WithSm90, ProductsAreChosenInPairsOnce) {
  EXPECT_EQ(stages_of(fused_epilogue(kProblem)), kTwoStages);
  EXPECT_EQ(tuned_pairs(), 1);
  fused_epilogue(kProblem);
  EXPECT_EQ(tuned_pairs(), 1) << "it was measured again";
}

// Our own down product, of one row and of many; and cublasLt's where that is faster, as on an H200
// and an H100 for 2048 columns, which 192 does not divide.
TEST_F(WithSm90, ARequiredPinnedPairIsTaken) {
  for (const Problem& problem : {ladder_problem(1, 1, 768, 3072, Dtype::kBf16), kProblem,
                                 ladder_problem(8, 512, 2048, 8192, Dtype::kBf16)}) {
    device_->pin_choices({});
    const StageChoices pinned = choices_of(fused_epilogue(problem));
    device_->launch_choices().clear();
    device_->pin_choices({.choices = pinned, .required = true});
    const StageChoices again = choices_of(fused_epilogue(problem));
    for (const auto& [stage, choice] : pinned) {
      EXPECT_EQ(chosen_name(again.at(stage)), chosen_name(choice)) << stage;
    }
    EXPECT_TRUE(device_->launch_choices().empty()) << "it was measured";
  }
}

}  // namespace
}  // namespace fusegate::kernels
