// How far rounding may take a correct result from its reference: by element, row, tile and as a
// whole.
//
// A correct evaluation may round every intermediate result to the dtype, as eager PyTorch does
// after each product and each element-wise step, and add in fp32 in any order. The resulting error
// depends on the operation, so it is measured: the reference is computed again with every
// floating-point input perturbed by up to u, the unit roundoff, as in the definition of backward
// stability (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., 2002,
// section 1.5). Each element of an input is multiplied by 1 + u d, with d uniform in [-1, 1]. That
// has the variance u^2 / 3, twice that of rounding to nearest, whose error is u of the power of two
// below and so u^2 / 6 over a binade. So an input accounts for two roundings.
//
//   u    unit roundoff of the coarser one of the dtypes of problem and output, plus 2^-24 sqrt(K)
//        for sums in fp32, K being the longest axis: K roundings of sums that are no larger than
//        the whole. At least a third of error_bound, which in fp32 leaves room for approximate
//        functions: CUDA's __expf(20) is off by 25 ulp. An output's own tolerance replaces it where
//        that is above error_bound.
//   v    variance of an element's error that passes through the operation: the mean square of its
//        row times that of its column, over that of all, since one perturbed element is a poor
//        estimate. Exact for the sum of products of two matrices. Rows or columns of fewer than 64
//        elements, over all references, are not distinguished. Where nothing can be perturbed, as
//        for integers, v = u^2/3 of the output's mean square. Exact inputs (TensorSpec::is_exact)
//        are not perturbed and count as none. Where an operation is discontinuous, as relu's
//        derivative is at zero, a rounding decides on which side of the jump an element is, which
//        no derivative foretells. Two perturbations are each other's negative there: what lies as
//        close to the jump as rounding goes is beyond it in one of them, and its row's v has that.
//        A jump is a whole term of a sum of maybe few, which is no product of a row's and a
//        column's share: a column has at least one.
//   s^2  = v + (u r)^2 / 3 + (the smallest number)^2, with the reference r: the result's own
//   rounding.
//
// Sums of bounded independent errors are sub-Gaussian: at most 2 exp(-q^2 / 2) lies beyond q s. A
// correct result is beyond a bound of N elements or groups with a probability of at most 1e-6:
// q(N) = sqrt(2 ln(2 N / 1e-6)), which is 7.7 for 6 million elements.
//
//   element       |e| <= q s
//   row, tile     mean of (e / s)^2 <= 3 (1 + 2 sqrt(t / n) + 2 t / n), t = ln(N / 1e-6): the tail
//                 of chi-square with n degrees of freedom (B. Laurent, P. Massart, "Adaptive
//                 estimation of a quadratic functional by model selection", Annals of Statistics
//                 28, 2000, lemma 1), three times, as a shared rounding may be u. n is the shortest
//                 axis, since a row may come from fewer sums than it has elements.
//   row, tile     slope of e over r, by which share a group is too large: |sum e r / sum r^2| <=
//                 u + q b. u is for a shared rounding, such as a mean's. b is what s gives n
//                 elements' errors that are independent, times sqrt(n) c where they are not: c^2 is
//                 the share of e that is along r in the perturbed references, (sum e r)^2 / (sum
//                 e^2 sum r^2), in the mean over the groups of a kind. A slope itself has no mean:
//                 where a derivative is about zero, it is off by many times itself.
//   whole         |slope| <= 2 (inputs + 1) u^2 + q (u / sqrt(3 G) + b), since roundings shared by
//                 a row or column are independent of the others'. b is the root mean square slope
//                 of the perturbed references, and at least what s gives independent errors. G is
//                 the least of rows, columns, the shortest axis and 1 / (2 u), the number of
//                 significands. The square is of twice as many roundings as there are inputs and
//                 outputs: where values are not spread evenly between neighbours, each is off by up
//                 to u^2 in the mean.
//   whole         ||e||^2 / ||r||^2 <= S (1 + 2 sqrt(t / n) + 2 t / n), S = sum s^2 / ||r||^2, with
//                 t = ln(1 / 1e-6) and n as for a row: of few sums, one whose roundings all go one
//                 way decides. At least error_bound, which is more from some tens of sums on, but
//                 in fp8.
//
// A wrong constant is found where it makes a result too large or too small by 0.39 % in bf16 and
// 0.05 % in fp16, and a third of that with some hundred rows and columns. Smaller errors look like
// correct rounding.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/contract/device.h"
#include "kernels/contract/errors.h"

namespace fusegate::kernels {

// The largest ||out - ref|| / ||ref|| that rounding explains. bf16 keeps 8 bits: one rounding costs
// 2^-9 / sqrt(3) = 1.1e-3 of a value on average, and geglu_mlp rounds four times on its way. fp16
// keeps 11 bits. fp32's bound lies under what tf32 products cost (3e-4), so that they do not pass.
// fp8 keeps 4 bits (E4M3) or 3 (E5M2): one rounding costs 1.8e-2 or 3.6e-2. Zero for integers.
double error_bound(Dtype dtype);

// Half the distance from 1 to the next larger number; zero for integers.
double unit_roundoff(Dtype dtype);

struct RoundingTerms {
  double unit = 0;             // u
  Dtype dtype = Dtype::kFp32;  // of the output
  std::int64_t float_inputs = 0;
  std::int64_t shortest_axis = 1;  // of all tensors
  bool is_discontinuous = false;
};

// The worst element, row or tile beyond its bound, or the whole.
struct BeyondRounding {
  enum class What { kElement, kRow, kTile, kWhole };
  What what = What::kElement;
  std::int64_t index = 0;  // of the row or tile
  bool is_slope = false;   // else seen is a root mean square, or |e|, in units of s
  double seen = 0, allowed = 0;

  double times() const { return std::abs(seen) / allowed; }
};

class RoundingBound {
 public:
  // spreads: of references whose inputs are perturbed by up to perturbed_by. mean_square: of the
  // reference.
  RoundingBound(Device& device, const RoundingTerms& terms, const std::vector<Errors>& spreads,
                double perturbed_by, double mean_square);

  // Of rows from that one on, where an output is a part of the reference.
  ErrorScale scale(std::int64_t first_row = 0) const;
  // Of the whole: the largest ||e|| / ||r||; zero where all must be equal.
  double norm() const;
  // errors: by scale().
  std::optional<BeyondRounding> beyond(const Errors& errors) const;

 private:
  void keep_variances(Device& device, const std::vector<Errors>& spreads);
  std::optional<BeyondRounding> group_beyond(const GroupErrors& group, std::int64_t elements,
                                             std::int64_t groups, double along) const;
  std::optional<BeyondRounding> groups_beyond(const Errors& errors) const;
  std::optional<BeyondRounding> whole_beyond(const TileGrid& grid, const GroupErrors& all) const;

  RoundingTerms terms_;
  double mean_square_ = 0, all_ = 0;
  Memory rows_, columns_;                  // on the device
  double row_along_ = 0, tile_along_ = 0;  // c
  double whole_slope_ = 0;                 // b
};

}  // namespace fusegate::kernels
