// How the fp8 MLPs' tensors are scaled: what an e4m3 element stands for is the element times a
// scale in fp32, which it shares with others.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

// kTensor: one scale a matrix. kRow: one for each row of x and of h, and for each row of a weight,
// hence each column of a product. kBlock: for 1 x 128 elements of x and of h, and 128 x 128 of a
// weight (DeepSeek-AI, "DeepSeek-V3 technical report", arXiv:2412.19437, section 3.3.2; DeepGEMM).
enum class Fp8Scales { kTensor, kRow, kBlock };
inline constexpr std::array kAllFp8Scales{Fp8Scales::kTensor, Fp8Scales::kRow, Fp8Scales::kBlock};

inline constexpr std::int64_t kScaleBlock = 128;

// "geglu_mlp_fp8", "geglu_mlp_fp8_rowwise", "geglu_mlp_fp8_blockwise"
inline std::string fp8_mlp(const Activation& activation, Fp8Scales scales) {
  constexpr std::array<std::string_view, 3> kSuffixes{"", "_rowwise", "_blockwise"};
  return activation.mlp() + "_fp8" + std::string(kSuffixes[static_cast<std::size_t>(scales)]);
}

// Of x or h [m, k], and of a weight [n, k].
inline ScaleBlocks left_blocks(Fp8Scales scales, std::int64_t m, std::int64_t k) {
  if (scales == Fp8Scales::kBlock) return {1, kScaleBlock};
  return {scales == Fp8Scales::kRow ? 1 : m, k};
}
inline ScaleBlocks weight_blocks(Fp8Scales scales, std::int64_t n, std::int64_t k) {
  if (scales == Fp8Scales::kBlock) return {kScaleBlock, kScaleBlock};
  return {scales == Fp8Scales::kRow ? 1 : n, k};
}

// An fp8 MLP's inputs, in the order of its operation. h_scale is static, an input: one number, or
// one a row. Blocks of h are scaled by their largest element, so there is none.
enum Fp8Input : std::size_t {
  kX,
  kGate,
  kUp,
  kDown,
  kXScale,
  kGateScale,
  kUpScale,
  kDownScale,
  kHScale
};

}  // namespace fusegate::kernels
