// The ladder's problems: M = batch x seq tokens, dim wide, and hidden wide between the projections.
// Its operations and implementations take a LadderProblem instead of a Problem.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/contract/problem.h"

namespace fusegate::kernels {

inline std::vector<std::string> ladder_axes() { return {"batch", "seq", "dim", "hidden"}; }

inline Problem ladder_problem(std::int64_t batch, std::int64_t seq, std::int64_t dim,
                              std::int64_t hidden, Dtype dtype) {
  return {dtype, {{"batch", batch}, {"seq", seq}, {"dim", dim}, {"hidden", hidden}}};
}

struct LadderProblem {
  std::int64_t batch, seq, dim, hidden;
  Dtype dtype;

  // Throws std::out_of_range for a problem that lacks one of the axes.
  LadderProblem(const Problem& problem)
      : batch(problem.at("batch")),
        seq(problem.at("seq")),
        dim(problem.at("dim")),
        hidden(problem.at("hidden")),
        dtype(problem.dtype) {}

  // M of every matrix product.
  std::int64_t rows() const { return batch * seq; }
};

}  // namespace fusegate::kernels
