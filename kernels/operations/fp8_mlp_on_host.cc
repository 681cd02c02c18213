#include "kernels/operations/fp8_mlp_on_host.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/contract/number_format.h"

namespace fusegate::kernels {
namespace {

using Numbers = std::vector<float>;
using Round = float (*)(float);

Numbers widened(const Tensor& tensor) {
  Numbers numbers(static_cast<std::size_t>(tensor.count()));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] =
        static_cast<float>(load_element(tensor.data, tensor.dtype, static_cast<std::int64_t>(i)));
  }
  return numbers;
}

// A matrix of n columns and its scales.
struct Scaled {
  Numbers numbers, scales;
  ScaleBlocks blocks;
  std::int64_t n;

  float& scale_of(std::int64_t row, std::int64_t column) {
    const std::int64_t across = blocks.shape(1, n)[1];
    return scales[static_cast<std::size_t>(row / blocks.rows * across + column / blocks.columns)];
  }
  template <typename Use>
  void with_scales(const Use& use) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      numbers[i] = use(numbers[i], scale_of(at / n, at % n));
    }
  }
};

Numbers scaled(const Tensor& tensor, const Tensor& scales, const ScaleBlocks& blocks) {
  Scaled matrix{widened(tensor), widened(scales), blocks, tensor.cols()};
  matrix.with_scales([](float number, float scale) { return number * scale; });
  return std::move(matrix.numbers);
}

// x [m, k] w [n, k]^T
Numbers product(const Numbers& x, const Numbers& w, std::int64_t k, Round round) {
  Numbers out;
  for (auto row = x.begin(); row != x.end(); row += k) {
    for (auto of = w.begin(); of != w.end(); of += k) {
      float sum = 0;
      for (std::int64_t i = 0; i < k; ++i) {
        sum += row[i] * of[i];
        if (i % kFp8Step == kFp8Step - 1) sum = round(sum);
      }
      out.push_back(sum);
    }
  }
  return out;
}

// As e4m3 holds it: by its static scales, or by those of the largest element in each block.
void round_to_e4m3(Scaled& h, bool is_static) {
  if (!is_static) {
    std::ranges::fill(h.scales, 0);
    h.with_scales([](float number, float& scale) {
      scale = std::max(scale, std::abs(number) / kE4m3.largest);
      return number;
    });
  }
  h.with_scales([](float number, float scale) {
    return scale > 0 ? fp8_to_float(float_to_fp8(number / scale, kE4m3), kE4m3) * scale : 0;
  });
}

}  // namespace

Numbers fp8_mlp_on_host(const Activation& activation, Fp8Scales scales, const LadderProblem& p,
                        Inputs in, Round round) {
  const Numbers x = scaled(in[kX], in[kXScale], left_blocks(scales, p.rows(), p.dim));
  const auto weight = [&](std::size_t w) {
    return scaled(in[w], in[w + kXScale], weight_blocks(scales, in[w].rows(), in[w].cols()));
  };
  const Numbers g = product(x, weight(kGate), p.dim, round);
  const Numbers u = product(x, weight(kUp), p.dim, round);
  Scaled h{g, {}, left_blocks(scales, p.rows(), p.hidden), p.hidden};
  for (std::size_t i = 0; i < g.size(); ++i)
    h.numbers[i] = static_cast<float>(activation.reference(g[i])) * u[i];
  const bool is_static = scales != Fp8Scales::kBlock;
  const std::vector<std::int64_t> blocks = h.blocks.shape(p.rows(), p.hidden);
  h.scales =
      is_static ? widened(in[kHScale]) : Numbers(static_cast<std::size_t>(blocks[0] * blocks[1]));
  round_to_e4m3(h, is_static);
  return product(h.numbers, weight(kDown), p.hidden, round);
}

}  // namespace fusegate::kernels
