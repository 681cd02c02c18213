// Which candidate a tuned matmul takes, given their times, and for what the choice stands. No
// device is needed here; lt_tuning.h takes the times.
//
// Candidates are cublasLt's in the heuristic's order, after kernels of our own where there are any,
// and the one taken is the first of those whose median time is within kTie of the fastest's. So
// what comes first is kept where measuring finds nothing better by more than that, and of several
// that are equally fast every process takes the same one, whichever of them noise puts ahead:
// processes with different algorithms differ in time, and a gate would have to tell that from a
// change of code. What is given up is at most kTie. A candidate that lies at kTie itself can still
// be taken by one process and not by another; the run file says which it was.
#pragma once

#include <cublasLt.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fusegate {

// What decides about an algorithm: one choice holds for all matmuls that have this in common, on
// one device.
struct LtProblem {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  cudaDataType_t type = CUDA_R_16BF;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  bool bias = false;
  std::size_t workspace_bytes = 0;
  std::vector<std::string> rivals{};  // names of what competes with cublasLt's

  friend auto operator<=>(const LtProblem&, const LtProblem&) = default;
};

struct LtChoice {
  cublasLtMatmulAlgo_t algorithm{};    // unless a rival was taken
  std::string rank;                    // "candidate 3 of 8", in order and counted from one
  std::optional<std::size_t> rival{};  // its place among the problem's
};

using LtChoices = std::map<LtProblem, LtChoice>;

// Shares of the fastest's median time.
inline constexpr double kTie = 0.01;
// What is slower by more after a few rounds is not timed further.
inline constexpr double kHopeless = 0.1;

// Of candidates with these times, one or more each, those whose median is at most the fastest's
// times one plus margin; in the order given.
std::vector<std::size_t> close_to_fastest(const std::vector<std::vector<double>>& times,
                                          double margin);

}  // namespace fusegate
