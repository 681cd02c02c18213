// The GPU's stages: cublasLt matmuls and our element-wise kernels.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/autotuning/lt_tuning.h"
#include "kernels/cuda/device/cublas_device.h"
#include "kernels/cuda/device/gated_operands.h"
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
  // out in bf16 = x w^T in e4m3, times their scales.
  Stage scaled_matmul(std::string name, const Tensor& x, const Tensor& w, const Tensor& out,
                      const LtScales& scales);
  // cublasLt's candidates for out = x w^T. scales: of e4m3 elements.
  std::vector<Candidate> matmul_candidates(const Tensor& x, const Tensor& w, const Tensor& out,
                                           const LtScales& scales = {});
  Stage bias_add(const Tensor& x, const Tensor& bias, const Tensor& out) override;
  Stage activate(const Activation& activation, const Tensor& x, const Tensor& out) override;
  Stage mul(const Tensor& a, const Tensor& b, const Tensor& out) override;
  Stage gate(const Activation& activation, const Tensor& g, const Tensor& u,
             const Tensor& out) override;
  Stage product(std::string name, const Product& product) override;
  // In one batch and launch, but where the one with the lower output has the higher operand:
  // strides of a batch go upwards.
  Stage activate_backward(const Activation& activation, const Tensor& g, const Tensor& d,
                          const Tensor& out) override;
  Stage gate_backward(const Activation& activation, const UnitBackward& unit) override;
  Stage packed_gate(const Activation& activation, const Tensor& gu, const Tensor& out) override;

 private:
  Stage lt_stage(Stage work, const Product& product);
  Stage chosen_matmul(Stage work, const std::shared_ptr<LtMatmul>& matmul, const Product& product);
  std::shared_ptr<LtMatmul> lt_matmul(const Tensor& x, const Tensor* bias, const Tensor& out,
                                      const LtScales& scales = {});

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

// Hopper's gated products that are worth measuring (fused_epilogue.cc).
std::vector<Candidate> tiled_gated_sm90(CudaDevice& device, const Activation& activation,
                                        const GatedOperands& operands);
// fused_epilogue's MLP (fused_epilogue.cc), in bf16 or fp16.
PreparedKernel fastest_fused_mlp(const Activation& activation, CudaDevice& device,
                                 const Problem& problem, Inputs in, const Tensor& out);
// The MLP of three kernels (gated_mlp_packed_pointwise.cc).
PreparedKernel packed_gated_mlp(const Activation& activation, CudaDevice& device,
                                const LadderProblem& problem, Inputs in, const Tensor& out);

}  // namespace fusegate::kernels
