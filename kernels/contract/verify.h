// A wrong kernel is never timed: this compares its outputs on fresh inputs with the
// double-precision reference, and finds what it wrote where it must not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/contract/workspace.h"

namespace fusegate::kernels {

// The largest ||out - ref|| / ||ref|| that rounding explains. bf16 keeps 8 bits: one rounding costs
// 2^-9 / sqrt(3) = 1.1e-3 of a value on average, and geglu_mlp rounds four times on its way. fp16
// keeps 11 bits. fp32's bound lies under what tf32 products cost (3e-4), so that they do not pass.
// fp8 keeps 4 bits (E4M3) or 3 (E5M2): one rounding costs 1.8e-2 or 3.6e-2. Zero for integers.
double error_bound(Dtype dtype);

struct Verification {
  // Of the output that is furthest from its reference, over what it may be.
  std::string output = {};  // its name; "" where the operation has one alone
  double relative_error = 0;
  double bound = 0;
  std::int64_t not_finite = 0;  // elements never written, NaN or infinite
  // What the kernel did to memory that is not its own to write; "" where nothing. Such as "stage
  // 'scan' wrote past the end of output 'y'".
  std::string damage = {};

  bool passed() const { return damage.empty() && relative_error <= bound; }
  // Why it did not pass, in one sentence.
  std::string complaint() const;
};

// Checks kernels against the reference, and keeps the last reference: the implementations of one
// operation on one problem share it.
class Verifier {
 public:
  Verifier(Device& device, std::uint64_t seed) : device_(device), seed_(seed) {}

  // Throws what prepare or launch throws, and ContractError where the operation's own functions
  // throw or their results cannot be.
  Verification verify(const Implementation& implementation, const Problem& problem);

 private:
  struct Reference {
    std::string operation;
    Problem problem;
    Workspace workspace;
    std::vector<Memory> values;  // doubles, an output each
  };

  Reference& reference(const Operation& operation, const Problem& problem);
  Verification compare(const Reference& expected) const;

  Device& device_;
  std::uint64_t seed_;
  std::optional<Reference> last_;
};

}  // namespace fusegate::kernels
