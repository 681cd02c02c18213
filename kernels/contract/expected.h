// An operation's expected outputs, by its reference, and how far a kernel's may differ.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/contract/rounding.h"
#include "kernels/contract/workspace.h"

namespace fusegate::kernels {

// An output's own tolerance, else error_bound().
double allowed_error(const TensorSpec& spec, Dtype dtype);
// The same for so few sums that rounding may come to more.
double allowed_error(const TensorSpec& spec, Dtype dtype, const RoundingBound& bound);

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
