// The fp8 MLPs' bound passes what a GPU's tensor cores round, and fails kernels that mistake a
// scale or a part of a sum.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "kernels/activations/activations.h"
#include "kernels/contract/number_format.h"
#include "kernels/contract/verify.h"
#include "kernels/operations/fp8_mlp_on_host.h"

namespace fusegate::kernels {
namespace {

using Fp8Values = std::vector<float>;

// As Hopper's tensor cores keep a sum: 13 bits behind the leading one, the rest cut off.
float cut_off(float sum) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &sum, sizeof(bits));
  bits &= ~0u << (23 - 13);
  std::memcpy(&sum, &bits, sizeof(bits));
  return sum;
}

// One of an MLP's kernels, that reads wrong inputs or spoils the output.
struct Spoiled {
  std::function<void(std::vector<Tensor>& in)> inputs = [](std::vector<Tensor>&) {};
  std::function<void(Fp8Values& out)> output = [](Fp8Values&) {};
};

Verification verified(Fp8Scales scales, const LadderProblem& p, const Spoiled& spoiled = {}) {
  const auto device = open_device("cpu");
  const Activation activation = kGemmActivations[0];
  const Implementation kernel{
      .operation = fp8_mlp(activation, scales),
      .name = "spoiled",
      .device = "cpu",
      .dtypes = {Dtype::kFp8E4m3},
      .prepare = [=](Device&, const Problem&, Inputs inputs, const Tensor& out) {
        Stage stage{.name = "mlp"};
        stage.launch = [=, in = std::vector<Tensor>(inputs.begin(), inputs.end())]() mutable {
          spoiled.inputs(in);
          Fp8Values values = fp8_mlp_on_host(activation, scales, p, in, &cut_off);
          spoiled.output(values);
          for (std::size_t i = 0; i < values.size(); ++i) {
            store_element(out.data, out.dtype, static_cast<std::int64_t>(i), values[i]);
          }
        };
        return PreparedKernel{.stages = {stage}};
      }};
  return Verifier(*device, 1)
      .verify(kernel, ladder_problem(p.batch, p.seq, p.dim, p.hidden, p.dtype));
}

LadderProblem problem(std::int64_t rows, std::int64_t dim, std::int64_t hidden) {
  return ladder_problem(1, rows, dim, hidden, Dtype::kFp8E4m3);
}

TEST(Fp8Mlp, PassesAsTensorCoresRound) {
  for (const Fp8Scales scales : kAllFp8Scales) {
    for (const LadderProblem& p : {problem(1, 16, 16), problem(7, 16, 4096), problem(130, 144, 272),
                                   problem(16, 2048, 384), problem(64, 256, 2048)}) {
      const Verification result = verified(scales, p);
      EXPECT_TRUE(result.passed()) << static_cast<int>(scales) << ": " << p.rows() << " x " << p.dim
                                   << " x " << p.hidden << ": " << result.message();
    }
  }
}

const LadderProblem kMedium = problem(64, 256, 512);

TEST(Fp8Mlp, FailsWhereAScaleIsAnothers) {
  for (const Fp8Scales scales : kAllFp8Scales) {
    for (const auto& [mine, others] : {std::pair(kGateScale, kUpScale), {kXScale, kGateScale}}) {
      if (mine == kXScale && scales != Fp8Scales::kTensor) continue;  // of other shapes
      const Verification result =
          verified(scales, kMedium, {.inputs = [=](auto& in) { in[mine] = in[others]; }});
      EXPECT_FALSE(result.passed()) << static_cast<int>(scales) << " " << mine;
    }
  }
}

TEST(Fp8Mlp, FailsWhereAFewElementsAreWrong) {
  const auto column_of_zeros = [](Fp8Values& out) {
    for (std::size_t i = 77; i < out.size(); i += 256) out[i] = 0;
  };
  const auto neighbours_swapped = [](Fp8Values& out) {
    for (std::size_t i = 0; i < 256; i += 2) std::swap(out[i], out[i + 1]);
  };
  const auto too_large = [](Fp8Values& out) {
    for (float& value : out) value *= 1.03f;
  };
  // Only where scales are exact: perturbed, they would explain it.
  const auto row_too_large = [](Fp8Values& out) {
    for (std::size_t i = 5 * 256; i < 6 * 256; ++i) out[i] *= 1.1f;
  };
  for (const Fp8Scales scales : kAllFp8Scales) {
    EXPECT_FALSE(verified(scales, kMedium, {.output = column_of_zeros}).passed());
    EXPECT_FALSE(verified(scales, kMedium, {.output = neighbours_swapped}).passed());
    EXPECT_FALSE(verified(scales, kMedium, {.output = too_large}).passed());
    EXPECT_THAT(verified(scales, kMedium, {.output = row_too_large}).message(),
                testing::HasSubstr("row [5, :] is too large"));
  }
}

}  // namespace
}  // namespace fusegate::kernels
