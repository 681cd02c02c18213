// Chooses a matmul's algorithm by timing the first candidates of cublasLt's heuristic (autotune.h),
// once for each shape and device.
#pragma once

#include <string>
#include <vector>

#include "kernels/contract/device.h"
#include "kernels/cuda/autotuning/autotune.h"
#include "kernels/cuda/device/cublas_device.h"

namespace fusegate::kernels {

struct TunedMatmul {
  std::string choice;  // "tuned: candidate 3 of 8, algo 66, tile 18, ..."
  std::string note;    // why_taken() of launch_choice.h
};

// cublasLt's first candidates for out [m, n] = x [m, k] w [n, k]^T, in the order of its heuristic.
// The matmul must outlive their launches.
std::vector<Candidate> lt_candidates(const LtMatmul& matmul, const Tensor& x, const Tensor& w,
                                     const Tensor& out);

// Makes the matmul, a stage of a kernel, use the fastest of them. w must hold its values already; x
// and out are restored. Throws DeviceError where the device's stream captures before the problem
// was measured, where no candidate runs, or where a required pinned choice is not among them.
TunedMatmul tune(CublasDevice& device, const std::string& stage, LtMatmul& matmul, const Tensor& x,
                 const Tensor& w, const Tensor& out);

}  // namespace fusegate::kernels
