// What ranks exchange, alone: the time that an operation over several ranks would hide.
//   all_reduce      x [rows, dim] on each rank; out [rows, dim], their sum, on each
//   all_gather      x, each rank's part of the rows; out [rows, dim] on each
//   reduce_scatter  x [rows, dim] on each rank; out, each rank's part of the rows of their sum
// rows = batch x seq. To the reference, the x of all ranks are one [ranks, rows, dim].
#include "kernels/operations/exchanges.h"

#include <functional>

#include "kernels/contract/kernel.h"

namespace fusegate::kernels {
namespace {

struct Exchanged {
  std::int64_t rows, dim, ranks;

  Exchanged(const Problem& p)
      : rows(p.at("batch") * p.at("seq")), dim(p.at("dim")), ranks(p.at(kRanksAxis)) {}
  std::int64_t count() const { return rows * dim; }
};

using Specs = std::vector<TensorSpec>;

Specs summands(const Exchanged& of) {
  return {{.name = "x", .shape = {of.ranks, of.rows, of.dim}, .split_axis = 0}};
}

void sum(Device& device, const Exchanged& of, std::span<double* const> in, double* out) {
  ReferenceMath& math = device.reference_math();
  math.copy(in[0], out, of.count());
  for (std::int64_t rank = 1; rank < of.ranks; ++rank) {
    math.add_bias(out, in[0] + rank * of.count(), 1, of.count());
  }
}

Operation exchange(std::string name, std::function<Specs(const Problem&)> inputs,
                   std::optional<int> out_split) {
  return {.name = std::move(name),
          .axes = {"batch", "seq", "dim", kRanksAxis},
          .inputs = std::move(inputs),
          .outputs =
              [out_split](const Exchanged& of) {
                return Specs{{.name = "out", .shape = {of.rows, of.dim}, .split_axis = out_split}};
              },
          .reference = &sum};
}

Operation gathering() {
  Operation operation = exchange(
      "all_gather",
      [](const Exchanged& of) {
        return Specs{{.name = "x", .shape = {of.rows, of.dim}, .split_axis = 0}};
      },
      std::nullopt);
  operation.reference = [](Device& device, const Exchanged& of, std::span<double* const> in,
                           double* out) { device.reference_math().copy(in[0], out, of.count()); };
  return operation;
}

const OperationRegistration all_reduce(exchange("all_reduce", &summands, std::nullopt));
const OperationRegistration reduce_scatter(exchange("reduce_scatter", &summands, 0));
const OperationRegistration all_gather(gathering());

// Read and written once by this rank; what the link carries is no traffic of its memory.
Stage stage(std::string name, const Tensor& tensor, double additions) {
  return {.name = std::move(name),
          .flops = additions * static_cast<double>(tensor.count()),
          .min_bytes = 2 * static_cast<double>(tensor.bytes())};
}

}  // namespace

Stage all_reduce_work(const Tensor& out, std::int64_t ranks) {
  return stage("all_reduce", out, static_cast<double>(ranks - 1));
}

Stage all_gather_work(const Tensor& whole) { return stage("all_gather", whole, 0); }

Stage reduce_scatter_work(const Tensor& summand, std::int64_t ranks) {
  const auto parts = static_cast<double>(ranks);
  return stage("reduce_scatter", summand, (parts - 1) / parts);
}

}  // namespace fusegate::kernels
