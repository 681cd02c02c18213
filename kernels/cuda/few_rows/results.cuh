// How the kernels that stream weights past few rows of x make a column of its sums.
#pragma once

namespace fusegate::kernels::few_rows {

template <typename Functor>
struct Gated {
  static constexpr int kWeights = 2;
  __device__ static float of(float gate, float up) { return Functor::of(gate) * up; }
};
struct Linear {
  static constexpr int kWeights = 1;
};

}  // namespace fusegate::kernels::few_rows
