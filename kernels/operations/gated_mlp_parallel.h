// What implementations of the tensor-parallel gated MLPs are composed of on every device.
#pragma once

#include "kernels/contract/kernel.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {

// What one rank computes: the gated MLP of all rows and its part of the hidden width. Its out is
// one of as many summands as there are ranks.
Problem problem_of_rank(const Problem& problem);
// Why ranks cannot have equal parts of hidden, or of rows where has_rows; "" where they can.
std::string refuses_to_split(const Problem& problem, bool has_rows);

}  // namespace fusegate::kernels
