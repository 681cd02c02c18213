// What implementations of the tensor-parallel gated MLPs are composed of on every device.
#pragma once

#include "kernels/contract/kernel.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {

// What one rank computes: the gated MLP of all rows and its part of the hidden width. Its out is
// one of as many summands as there are ranks.
Problem problem_of_rank(const Problem& problem);
// Why ranks cannot have equal parts of hidden, or of rows where has_rows; "" where they can. Throws
// std::out_of_range for a problem without the axis "ranks".
std::string refuses_to_split(const Problem& problem, bool has_rows);

// A stage that exchanges out [rows, dim] with the other ranks. An all-reduce leaves their sum on
// each. A ring sends and receives 2 (ranks - 1) / ranks of it over the link, and half of that where
// parts are gathered, or summands reduced to a part (Patarasuk, Yuan, "Bandwidth optimal all-reduce
// algorithms for clusters of workstations", JPDC 69, 2009).
Stage all_reduce_work(const Tensor& out, std::int64_t ranks);
Stage all_gather_work(const Tensor& whole, std::int64_t ranks);
Stage reduce_scatter_work(const Tensor& summand, std::int64_t ranks);

}  // namespace fusegate::kernels
