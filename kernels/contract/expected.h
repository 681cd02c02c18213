// An operation's expected outputs, by its reference, and how far a kernel's may differ.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/contract/rounding.h"
#include "kernels/contract/workspace.h"

namespace fusegate::kernels {

// The largest ||out - ref|| / ||ref|| that rounding explains. bf16 keeps 8 bits: one rounding costs
// 2^-9 / sqrt(3) = 1.1e-3 of a value on average, and geglu_mlp rounds four times on its way. fp16
// keeps 11 bits. fp32's bound lies under what tf32 products cost (3e-4), so that they do not pass.
// fp8 keeps 4 bits (E4M3) or 3 (E5M2): one rounding costs 1.8e-2 or 3.6e-2. Zero for integers.
double error_bound(Dtype dtype);

// An output's own tolerance, else error_bound().
double allowed_error(const TensorSpec& spec, Dtype dtype);

struct Expected {
  std::vector<Memory> values;  // doubles on the device, by output
  std::vector<RoundingBound> bounds;
};

// The expected values alone. Throws DeviceError, and ContractError where the operation's functions
// throw or return what is invalid.
std::vector<Memory> reference_values(Device& device, const Operation& operation,
                                     const Problem& problem, const Workspace& workspace);

// seed: of the perturbed inputs. Throws as reference_values does.
Expected expected_outputs(Device& device, const Operation& operation, const Problem& problem,
                          const Workspace& workspace, std::uint64_t seed);

}  // namespace fusegate::kernels
