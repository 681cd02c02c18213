// A wrong kernel is never timed: this compares its output on fresh random inputs with the
// double-precision reference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/contract/kernel.h"
#include "kernels/contract/workspace.h"

namespace fusegate::kernels {

// The largest ||out - ref|| / ||ref|| that rounding explains. bf16 keeps 8 bits: one rounding costs
// 2^-9 / sqrt(3) = 1.1e-3 of a value on average, and geglu_mlp rounds four times on its way. fp16
// keeps 11 bits. fp32's bound lies under what tf32 products cost (3e-4), so that they do not pass.
double error_bound(Dtype dtype);

struct Verification {
  double relative_error = 0;
  double bound = 0;
  std::int64_t not_finite = 0;  // elements never written, NaN or infinite

  bool passed() const { return relative_error <= bound; }
  // Why it did not pass, in one sentence.
  std::string complaint() const;
};

// Checks kernels against the reference, and keeps the last reference: the implementations of one
// operation on one problem share it.
class Verifier {
 public:
  Verifier(Device& device, std::uint64_t seed) : device_(device), seed_(seed) {}

  // Throws what prepare or launch throws.
  Verification verify(const Implementation& implementation, const Problem& problem);

 private:
  struct Reference {
    std::string operation;
    Problem problem;
    Workspace workspace;
    Memory values;
  };

  Reference& reference(const Operation& operation, const Problem& problem);

  Device& device_;
  std::uint64_t seed_;
  std::optional<Reference> last_;
};

}  // namespace fusegate::kernels
