#include "kernels/contract/kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "kernels/operations/ladder_problem.h"
#include "kernels/operations/stages.h"

namespace fusegate::kernels {
namespace {

using testing::HasSubstr;

TEST(Registry, HoldsTheLadder) {
  std::vector<std::string> names;
  for (const Operation& operation : operations()) names.push_back(operation.name);
  EXPECT_THAT(names,
              testing::ElementsAre("control_copy", "control_gemm", "geglu", "geglu_erf",
                                   "geglu_erf_mlp", "geglu_mlp", "geglu_mlp_fp8",
                                   "geglu_mlp_fp8_blockwise", "geglu_mlp_fp8_rowwise", "linear",
                                   "reglu", "reglu_mlp", "swiglu", "swiglu_mlp", "swiglu_mlp_fp8",
                                   "swiglu_mlp_fp8_blockwise", "swiglu_mlp_fp8_rowwise"));
  for (const auto& [operation, name] : {std::pair("linear", "addmm"),
                                        {"linear", "matmul_add"},
                                        {"geglu", "unfused"},
                                        {"geglu", "fused"},
                                        {"geglu_mlp", "unfused"},
                                        {"geglu_mlp", "fused_epilogue"},
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

TEST(OpenDevice, NamesEachKindOnce) {
  EXPECT_THAT([] { open_device("tpu"); }, testing::ThrowsMessage<DeviceError>(testing::MatchesRegex(
                                              ".*'tpu' here; this program knows: (cuda, )?cpu")));
}

TEST(OpenDevice, PrefersTheOneWithALibrary) {
  EXPECT_THAT(open_device("cpu")->versions(), testing::Contains(testing::Key("onednn")));
}

}  // namespace
}  // namespace fusegate::kernels
