// Chooses a matmul's algorithm by measurement (launch_contest.h): cublasLt's heuristic predicts
// times, and here its first candidates are timed on the device instead, and kernels of our own with
// them. Once for each LtProblem and device; from then on the choice is taken from
// CudaDevice::lt_choices().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/contract/device.h"
#include "kernels/cuda/choosing/launch_contest.h"
#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/device/lt_matmul.h"

namespace fusegate::kernels {

struct TunedMatmul {
  std::string choice;                  // "tuned: candidate 3 of 8, algo 66, tile 18, ..."
  std::optional<std::size_t> rival{};  // which of them is fastest; otherwise the matmul is
  std::string note{};                  // why_taken() of launch_choice.h
};

// The fastest for out [m, n] = x [m, k] w [n, k]^T, a stage of a kernel; a rival, another kernel
// for the same operands, rather than an equal of cublasLt's. The matmul uses from then on the
// algorithm that was chosen, unless a rival was. w must hold its values already; x and out hold
// afterwards what they held before. Throws DeviceError where the device's stream captures and
// nothing is known of the problem, where no candidate runs, or where what is strictly kept is none.
//
// before: what precedes the product wherever it is used, and each of the candidates here too: one
// that is launched early overlaps it, and cublasLt's are not. Nothing where it has no launch.
TunedMatmul tune(CudaDevice& device, const std::string& stage, LtMatmul& matmul, const Tensor& x,
                 const Tensor& w, const Tensor& out, const std::vector<Contestant>& rivals = {},
                 const Contestant& before = {});

}  // namespace fusegate::kernels
