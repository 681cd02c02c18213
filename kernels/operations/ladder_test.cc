#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/contract/workspace.h"
#include "kernels/operations/ladder_problem.h"
#include "kernels/operations/stages.h"

namespace fusegate::kernels {
namespace {

using testing::HasSubstr;

TEST(Registry, HoldsTheLadder) {
  std::vector<std::string> names;
  for (const Operation& operation : operations()) names.push_back(operation.name);
  std::vector<std::string> expected{"all_gather",   "all_reduce",     "control_copy",
                                    "control_gemm", "reduce_scatter", "linear"};
  for (const char* const unit : {"geglu", "geglu_erf", "reglu", "swiglu"}) {
    for (const char* const suffix :
         {"", "_backward", "_mlp", "_mlp_accumulate", "_mlp_backward", "_mlp_training"}) {
      expected.push_back(std::string(unit) + suffix);
    }
  }
  for (const char* const parallel :
       {"geglu_mlp_tp", "geglu_mlp_sp", "swiglu_mlp_tp", "swiglu_mlp_sp"}) {
    expected.emplace_back(parallel);
  }
  for (const char* const mlp : {"geglu_mlp_fp8", "swiglu_mlp_fp8"}) {
    for (const char* const scales : {"", "_rowwise", "_blockwise"}) {
      expected.push_back(std::string(mlp) + scales);
    }
  }
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(expected));
  EXPECT_TRUE(std::ranges::is_sorted(names));
  for (const auto& [operation, name] : {std::pair("linear", "addmm"),
                                        {"linear", "matmul_add"},
                                        {"geglu", "unfused"},
                                        {"geglu", "fused"},
                                        {"geglu_mlp", "unfused"},
                                        {"geglu_mlp", "fused_epilogue"},
                                        {"geglu_backward", "fused"},
                                        {"geglu_mlp_backward", "fused_pointwise"},
                                        {"geglu_mlp_accumulate", "packed_pointwise"},
                                        {"geglu_mlp_training", "recompute"},
                                        {"geglu_mlp_tp", "gathered"},
                                        {"control_copy", "memcpy"},
                                        {"control_gemm", "onednn"}}) {
    EXPECT_NO_THROW(find_implementation(operation, name, "cpu")) << operation << "/" << name;
  }
}

TEST(Registry, KnowsControlsByTheirPrefix) {
  for (const Operation& operation : operations()) {
    EXPECT_EQ(operation.is_control, operation.name.starts_with("control_")) << operation.name;
  }
}

TEST(Registry, SaysWhichOperationsThereAre) {
  EXPECT_THAT([] { find_operation("softmax"); },
              testing::ThrowsMessage<std::out_of_range>(
                  testing::AllOf(HasSubstr("softmax"), HasSubstr("geglu_mlp"))));
}

TEST(BenchmarkName, IsOperationImplementationProblem) {
  EXPECT_EQ(benchmark_name(find_implementation("geglu_mlp", "unfused", "cpu"),
                           ladder_problem(64, 128, 768, 3072, Dtype::kBf16)),
            "geglu_mlp/unfused/bf16/batch:64/seq:128/dim:768/hidden:3072");
}

TEST(Refusal, NamesWhatIsWrong) {
  const auto device = open_device("cpu");
  Implementation implementation = find_implementation("geglu", "fused", "cpu");
  EXPECT_EQ(refusal(implementation, *device, ladder_problem(1, 1, 8, 8, Dtype::kFp32)), "");
  EXPECT_THAT(refusal(implementation, *device, ladder_problem(1, 1, 8, 8, Dtype::kFp16)),
              HasSubstr("fp16"));
  implementation.multiples = {{"dim", 8}, {"hidden", 8}};
  EXPECT_THAT(refusal(implementation, *device, ladder_problem(1, 1, 8, 12, Dtype::kFp32)),
              "hidden 12 must be a multiple of 8");
  implementation.device = "cuda";
  EXPECT_THAT(refusal(implementation, *device, ladder_problem(1, 1, 8, 8, Dtype::kFp32)),
              HasSubstr("cuda"));
}

TEST(Refusal, AsksTheImplementationLast) {
  const auto device = open_device("cpu");
  Implementation implementation = find_implementation("geglu", "fused", "cpu");
  int asked = 0;
  implementation.refuses = [&](const Device& on, const LadderProblem& problem) {
    EXPECT_EQ(&on, device.get());
    ++asked;
    return problem.rows() > 64 ? std::string("too many rows") : std::string();
  };
  EXPECT_THAT(refusal(implementation, *device, ladder_problem(1, 1, 8, 8, Dtype::kFp16)),
              HasSubstr("fp16"));
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(refusal(implementation, *device, ladder_problem(1, 64, 8, 8, Dtype::kFp32)), "");
  EXPECT_EQ(refusal(implementation, *device, ladder_problem(1, 65, 8, 8, Dtype::kFp32)),
            "too many rows");
  EXPECT_EQ(asked, 2);
}

TEST(TensorBytes, CountsEveryTensorAndDoesNotOverflow) {
  // x [2, 3], w [5, 3], bias [5], out [2, 5] in fp32.
  EXPECT_EQ(tensor_bytes(find_operation("linear"), ladder_problem(1, 2, 3, 5, Dtype::kFp32)),
            4 * (6 + 15 + 5 + 10));
  // Each of the three takes 2^60 bytes.
  EXPECT_EQ(tensor_bytes(find_operation("geglu"),
                         ladder_problem(1, std::int64_t{1} << 34, 1, kLargestAxis, Dtype::kFp32)),
            3 * 0x1p60);
}

TEST(Work, CountsOperationsAndBytes) {
  const Tensor x{nullptr, {4, 8}, Dtype::kBf16}, w{nullptr, {16, 8}, Dtype::kBf16};
  const Tensor out{nullptr, {4, 16}, Dtype::kBf16};
  const Stage product = matmul_work("matmul", x, w, out);
  EXPECT_EQ(product.flops, 2 * 4 * 16 * 8);
  EXPECT_EQ(product.min_bytes, 2 * (4 * 8 + 16 * 8 + 4 * 16));
  const Stage pointwise = pointwise_work("mul", 3, {&out, &out}, out);
  EXPECT_EQ(pointwise.flops, 3 * 64);
  EXPECT_EQ(pointwise.min_bytes, 2 * 3 * 64);
  const Stage fused = gate_up_work({.unit = "geglu", .flops = 9}, x, w, w, out);
  EXPECT_EQ(fused.flops, 2 * product.flops + (9 + 1) * 64);
  EXPECT_EQ(fused.min_bytes, 2 * (4 * 8 + 2 * 16 * 8 + 4 * 16));
}

TEST(Work, CountsWhatAForwardPassKeeps) {
  const Tensor x{nullptr, {4, 8}, Dtype::kBf16}, w{nullptr, {16, 8}, Dtype::kBf16};
  const Tensor h{nullptr, {4, 16}, Dtype::kBf16};
  const Activation nine{.unit = "geglu", .flops = 9};
  const Stage fused = gate_up_work(nine, x, w, w, h);
  const Stage kept = gate_up_work(nine, {.x = x, .w_gate = w, .w_up = w, .g = h, .u = h, .h = h});
  EXPECT_EQ(kept.name, fused.name);
  EXPECT_EQ(kept.flops, fused.flops);
  EXPECT_EQ(kept.min_bytes, fused.min_bytes + 2 * (2 * 4 * 16)) << "g and u are written";
}

TEST(Work, CountsProductsOfABackwardPass) {
  const Tensor dy{nullptr, {4, 8}, Dtype::kBf16}, h{nullptr, {4, 16}, Dtype::kBf16};
  const Tensor dw{nullptr, {8, 16}, Dtype::kBf16};
  const Stage product = product_work("dw", {.a = dy, .b = h, .out = dw, .a_transposed = true});
  EXPECT_EQ(product.flops, 2 * 8 * 16 * 4);
  EXPECT_EQ(product.min_bytes, 2 * (4 * 8 + 4 * 16 + 8 * 16));
  const Stage adds =
      product_work("dw", {.a = dy, .b = h, .out = dw, .a_transposed = true, .adds = true});
  EXPECT_EQ(adds.flops, product.flops + 8 * 16);
  EXPECT_EQ(adds.min_bytes, product.min_bytes + 2 * 8 * 16);
  const Activation nine{.unit = "geglu", .flops = 9, .slope_flops = 7};
  const UnitBackward unit{.g = h, .u = h, .dh = h, .dg = h, .du = h, .h = h};
  EXPECT_EQ(gated_backward_work(nine, unit).flops, (9 + 7 + 4) * 64);
  EXPECT_EQ(gated_backward_work(nine, unit).min_bytes, 2 * 6 * 64);
  UnitBackward without_dh = unit;
  without_dh.dh = {};
  for (const UnitBackward& one : {unit, without_dh}) {
    const Stage dh = dh_work(nine, dy, dw, one);
    EXPECT_EQ(dh.flops, 2 * 8 * 64 + (9 + 7 + 4) * 64);
    EXPECT_EQ(dh.min_bytes, 2 * (4 * 8 + 8 * 16 + 5 * 64)) << "dh is not written";
  }
}

// Of an implementation on the CPU, in [M, hidden] tensors: its scratch memory, and what a step
// keeps.
struct Memories {
  double scratch = 0;
  std::optional<double> kept = {};
  bool operator==(const Memories&) const = default;
};

Memories memories(const std::string& operation, const std::string& name) {
  const Problem problem = ladder_problem(1, 64, 8, 128, Dtype::kFp32);
  constexpr double kTensor = 4 * 64 * 128;
  const auto device = open_device("cpu");
  const Workspace workspace(*device, find_operation(operation), problem, 1);
  const PreparedKernel kernel =
      find_implementation(operation, name, "cpu")
          .prepare(*device, problem, workspace.inputs(), workspace.outputs());
  std::optional<double> kept;
  if (kernel.kept_bytes) kept = *kernel.kept_bytes / kTensor;
  return {kernel.scratch_bytes() / kTensor, kept};
}

TEST(Training, TakesAndKeepsTheMemoryThatItSays) {
  constexpr double kWeights = 2.0 * 8 / 64;  // w_gate and w_up
  EXPECT_EQ(memories("geglu_mlp_training", "unfused"), (Memories{8, 4}));
  EXPECT_EQ(memories("geglu_mlp_training", "keep"), (Memories{3, 2}));
  EXPECT_EQ(memories("geglu_mlp_training", "recompute"), (Memories{3, 0}));
  EXPECT_EQ(memories("geglu_mlp_training", "packed_keep"), (Memories{3 + kWeights, 2}));
  EXPECT_EQ(memories("geglu_mlp_backward", "unfused"), (Memories{6}));
  EXPECT_EQ(memories("geglu_mlp_backward", "fused_pointwise"), (Memories{3}));
}

TEST(OpenDevice, NamesEachKindOnce) {
  EXPECT_THAT([] { open_device("tpu"); }, testing::ThrowsMessage<DeviceError>(testing::MatchesRegex(
                                              ".*'tpu' here; this program knows: (cuda, )?cpu")));
}

TEST(OpenDevice, PrefersTheOneWithALibrary) {
  EXPECT_THAT(open_device("cpu")->versions(), testing::Contains(testing::Key("onednn")));
}

}  // namespace
}  // namespace fusegate::kernels
