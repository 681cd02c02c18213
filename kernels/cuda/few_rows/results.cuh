// What becomes of a column's sums in the kernels that stream weights past few rows of x.
#pragma once

namespace fusegate::kernels::few_rows {

// A column of the result, summed.
template <typename Functor>
struct Gated {
  static constexpr int kWeights = 2;
  __device__ static float of(float gate, float up) { return Functor::of(gate) * up; }
};
struct Linear {
  static constexpr int kWeights = 1;
};

}  // namespace fusegate::kernels::few_rows
