// The stages in which a rank exchanges tensors with the others.
#pragma once

#include "kernels/contract/kernel.h"

namespace fusegate::kernels {

// A ring sends and receives 2 (ranks - 1) / ranks of the tensor over the link, and half of that
// where parts are gathered, or summands reduced to a part (Patarasuk, Yuan, "Bandwidth optimal
// all-reduce algorithms for clusters of workstations", JPDC 69, 2009). out, whole, summand: what
// one rank holds of the whole rows, before or after.
Stage all_reduce_work(const Tensor& out, std::int64_t ranks);
Stage all_gather_work(const Tensor& whole);
Stage reduce_scatter_work(const Tensor& summand, std::int64_t ranks);

}  // namespace fusegate::kernels
