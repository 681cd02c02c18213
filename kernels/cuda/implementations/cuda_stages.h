// The GPU's stages: cublasLt matmuls and our element-wise kernels.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/autotuning/lt_tuning.h"
#include "kernels/cuda/device/cublas_device.h"
#include "kernels/operations/stages.h"

namespace fusegate::kernels {

// Who chooses the algorithm of a matmul: cublasLt's heuristic, or measuring (lt_tuning.h).
enum class MatmulChoice { kHeuristic, kTuned };

class CudaStages : public StageLibrary {
 public:
  explicit CudaStages(Device& device, MatmulChoice choice = MatmulChoice::kHeuristic)
      : device_(static_cast<CublasDevice&>(device)), choice_(choice) {}

  Stage matmul(std::string name, const Tensor& x, const Tensor& w, const Tensor* bias,
               const Tensor& out) override;
  // cublasLt's candidates for out = x w^T.
  std::vector<Candidate> matmul_candidates(const Tensor& x, const Tensor& w, const Tensor& out);
  Stage bias_add(const Tensor& x, const Tensor& bias, const Tensor& out) override;
  Stage activate(const Activation& activation, const Tensor& x, const Tensor& out) override;
  Stage mul(const Tensor& a, const Tensor& b, const Tensor& out) override;
  Stage gate(const Activation& activation, const Tensor& g, const Tensor& u,
             const Tensor& out) override;
  // out [m, n] = activation(g) * u, where gu [m, 2 n] has g in its left half and u in its right.
  Stage packed_gate(const Activation& activation, const Tensor& gu, const Tensor& out);

 private:
  std::shared_ptr<LtMatmul> lt_matmul(const Tensor& x, const Tensor* bias, const Tensor& out);

  CublasDevice& device_;
  MatmulChoice choice_;
};

// The kernels of a gated MLP of two: h from x, of both products and the unit; out from h.
struct MlpCandidates {
  std::vector<Candidate> gate_up, down;
  std::vector<Candidate> library_down = {};  // cublasLt's
};

// That MLP with the pair of kernels that measures fastest. candidates: for an h.
PreparedKernel fastest_mlp(const Activation& activation, CudaDevice& device, const Problem& problem,
                           Inputs in, const Tensor& out,
                           const std::function<MlpCandidates(const Tensor& h)>& candidates);

// The MLP of three kernels (gated_mlp_packed_pointwise.cc).
PreparedKernel packed_gated_mlp(const Activation& activation, CudaDevice& device,
                                const LadderProblem& problem, Inputs in, const Tensor& out);

}  // namespace fusegate::kernels
