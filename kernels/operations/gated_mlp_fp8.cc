// The gated MLPs in fp8: out = (activation(x w_gate^T) * (x w_up^T)) w_down^T, no bias.
// x [M, dim], w_gate and w_up [hidden, dim], w_down [dim, hidden] in e4m3, each with scales in fp32
// (fp8_scales.h); out [M, dim] in bf16. Between the products h is e4m3 too. The reference takes the
// operands as they are, exact numbers, and rounds nothing; outputs() says what a kernel may be off
// by.
#include <cmath>

#include "kernels/activations/activations.h"
#include "kernels/contract/kernel.h"
#include "kernels/operations/fp8_scales.h"
#include "kernels/operations/gated_mlp.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {
namespace {

constexpr double kLargest = 448, kDeviations = 6;  // e4m3's largest number; Fill::normal's

// Random normal numbers over the whole range, as if scaled by the largest of them.
void add(std::vector<TensorSpec>& to, const std::string& name, std::int64_t rows,
         std::int64_t columns, bool is_weight) {
  to.push_back({.name = name,
                .shape = {rows, columns},
                .fill = Fill::normal(kLargest / kDeviations),
                .is_weight = is_weight});
}
// std: what the elements stand for has about this deviation. Scales differ by a quarter, so that a
// kernel that takes another's is found.
void add_scales(std::vector<TensorSpec>& to, const TensorSpec& of, const ScaleBlocks& blocks,
                double std) {
  const double scale = std * kDeviations / kLargest;
  to.push_back({.name = of.name + "_scale",
                .shape = blocks.shape(of.shape[0], of.shape[1]),
                .fill = Fill::uniform(0.75 * scale, 1.25 * scale),
                .dtype = Dtype::kFp32,
                .is_weight = of.is_weight,
                .is_exact = true});
}

// Numbers of a size as gated_mlp.cc has them. h is at most about 40 then.
std::vector<TensorSpec> inputs(Fp8Scales scales, const LadderProblem& p) {
  constexpr double kOfX = 2.3, kOfWeight = 0.577, kOfH = 10;
  std::vector<TensorSpec> specs;
  add(specs, "x", p.rows(), p.dim, false);
  add(specs, "w_gate", p.hidden, p.dim, true);
  add(specs, "w_up", p.hidden, p.dim, true);
  add(specs, "w_down", p.dim, p.hidden, true);
  add_scales(specs, specs[kX], left_blocks(scales, p.rows(), p.dim), kOfX);
  for (const std::size_t w : {kGate, kUp, kDown}) {
    const std::int64_t n = specs[w].shape[0], k = specs[w].shape[1];
    add_scales(specs, specs[w], weight_blocks(scales, n, k),
               kOfWeight / std::sqrt(static_cast<double>(k)));
  }
  if (scales != Fp8Scales::kBlock) {
    add_scales(specs, {.name = "h", .shape = {p.rows(), p.hidden}},
               left_blocks(scales, p.rows(), p.hidden), kOfH);
  }
  return specs;
}

// What is right, as a share of out's norm:
//
//   Rounding h to e4m3 is off by up to u = 2^-4 of the power of two below, hence by u / sqrt(3) x
//   sqrt(3 / 7) = 0.38 u = 2.4 % of h in the mean square, where h is spread evenly between powers
//   of two; u / 2 is left for that, and as much again over sqrt(hidden / 4), since a sum of few is
//   off by up to u.
//
//   Hopper's tensor cores add 32 products at a time to a sum of which they keep 13 bits behind the
//   leading one and cut off the rest (DeepSeek-V3, section 3.5.2: "around 14 bits"; J. Zhang et
//   al., "SageAttention2", arXiv:2411.10958, section 3.4: 1 sign, 8 exponent and 13 mantissa bits).
//   A sum of k / 32 such steps is too small by up to k / 32 x 2^-13 of itself. On average a step
//   cuts off half a unit, of a power of two that is 0.72 of the sum, of a sum that has grown to two
//   thirds of its end: k / 32 x 2^-15. h has two such factors. A kernel that adds in fp32 is only
//   nearer.
double tolerance(const LadderProblem& p) {
  constexpr double kUnit = 0x1p-4, kOfAStep = 0x1p-15, kStep = 32;
  const auto hidden = static_cast<double>(p.hidden);
  return kUnit / 2 * (1 + 2 / std::sqrt(hidden)) +
         kOfAStep / kStep * (2 * static_cast<double>(p.dim) + hidden);
}

std::vector<TensorSpec> outputs(const LadderProblem& p) {
  return {{.name = "out",
           .shape = {p.rows(), p.dim},
           .dtype = Dtype::kBf16,
           .tolerance = tolerance(p)}};
}

void reference(const Activation& activation, Fp8Scales scales, Device& device,
               const LadderProblem& p, std::span<double* const> in, double* out) {
  ReferenceMath& math = device.reference_math();
  math.apply_scales(left_blocks(scales, p.rows(), p.dim), in[kXScale], in[kX], p.rows(), p.dim);
  const auto scale = [&](std::size_t w, std::int64_t n, std::int64_t k) {
    math.apply_scales(weight_blocks(scales, n, k), in[w + kXScale], in[w], n, k);
  };
  scale(kGate, p.hidden, p.dim);
  scale(kUp, p.hidden, p.dim);
  scale(kDown, p.dim, p.hidden);
  gated_mlp_reference(activation, device, p, in, out);
}

Operation operation(Fp8Scales scales, const Activation& activation) {
  return {
      .name = fp8_mlp(activation, scales),
      .axes = ladder_axes(),
      .compared_with = "unfused",
      .inputs = std::bind_front(&inputs, scales),
      .outputs = &outputs,
      .reference = std::bind_front(&reference, activation, scales),
  };
}

template <Fp8Scales kScales>
const OperationRegistration kRegistered(kGemmActivations, [](const Activation& activation) {
  return operation(kScales, activation);
});
template const OperationRegistration kRegistered<Fp8Scales::kTensor>;
template const OperationRegistration kRegistered<Fp8Scales::kRow>;
template const OperationRegistration kRegistered<Fp8Scales::kBlock>;

}  // namespace
}  // namespace fusegate::kernels
