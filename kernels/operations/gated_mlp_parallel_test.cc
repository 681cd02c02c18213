// Operations across ranks, on the CPU with ranks in threads: what each holds, and that all are
// checked.
#include "kernels/operations/gated_mlp_parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <mutex>

#include "kernels/contract/number_format.h"
#include "kernels/contract/ranks_in_threads.h"
#include "kernels/contract/verify.h"

namespace fusegate::kernels {
namespace {

using testing::ElementsAre, testing::HasSubstr;

Problem over_ranks(std::int64_t ranks, std::int64_t rows, std::int64_t dim, std::int64_t hidden,
                   Dtype dtype) {
  Problem problem = ladder_problem(1, rows, dim, hidden, dtype);
  problem.axes.push_back({kRanksAxis, ranks});
  return problem;
}

// By rank, what the function returns there, of a device that has joined.
std::vector<std::string> on_ranks(int count, const std::function<std::string(Device&)>& function) {
  std::vector<std::string> results(static_cast<std::size_t>(count));
  RanksInThreads(count).run([&](const std::shared_ptr<Ranks>& ranks) {
    const auto device = open_device("cpu");
    device->join(ranks);
    results[static_cast<std::size_t>(ranks->rank())] = function(*device);
  });
  return results;
}

std::vector<double> numbers_of(const Tensor& tensor) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    numbers.push_back(load_element(tensor.data, tensor.dtype, i));
  }
  return numbers;
}

TEST(Parts, AreThoseOfTheWholeInTheOrderOfRanks) {
  const Problem problem = over_ranks(2, 4, 3, 6, Dtype::kFp32);
  const Operation& operation = find_operation("geglu_mlp_sp");
  const auto device = open_device("cpu");
  Workspace whole(*device, operation, problem, 7, Workspace::Guards::kNone,
                  Workspace::Extent::kWhole);
  whole.change(7);
  const auto x = numbers_of(whole.inputs()[0]), down = numbers_of(whole.inputs()[3]);
  on_ranks(2, [&](Device& own) {
    Workspace part(own, operation, problem, 7, Workspace::Guards::kAround);
    part.change(7);
    const std::ptrdiff_t rank = own.ranks().rank();
    EXPECT_THAT(part.inputs()[0].shape, ElementsAre(2, 3));
    EXPECT_THAT(part.inputs()[3].shape, ElementsAre(3, 3));
    EXPECT_THAT(part.outputs()[0].shape, ElementsAre(2, 3));
    EXPECT_EQ(numbers_of(part.inputs()[0]),
              std::vector(x.begin() + rank * 6, x.begin() + rank * 6 + 6));
    std::vector<double> columns;
    for (std::ptrdiff_t row = 0; row < 3; ++row) {
      for (std::ptrdiff_t i = 0; i < 3; ++i) {
        columns.push_back(down[static_cast<std::size_t>(row * 6 + rank * 3 + i)]);
      }
    }
    EXPECT_EQ(numbers_of(part.inputs()[3]), columns);
    return "";
  });
  EXPECT_EQ(tensor_bytes(operation, problem), 4 * (6 + 9 + 9 + 9 + 6));
}

TEST(EveryParallelImplementation, AgreesWithTheReferenceOnEachRank) {
  std::mutex mutex;
  std::set<std::string> checked;
  for (const int count : {1, 2, 3}) {
    on_ranks(count, [&](Device& device) {
      Verifier verifier(device, 1);
      for (const Dtype dtype : {Dtype::kFp32, Dtype::kBf16}) {
        for (const auto& implementation : implementations()) {
          const auto& axes = find_operation(implementation.operation).axes;
          if (axes.back() != kRanksAxis) continue;
          Problem problem = over_ranks(count, 6, 24, 48, dtype);
          if (axes.size() == 4) problem.axes.erase(problem.axes.begin() + 3);  // no hidden
          if (!refusal(implementation, device, problem).empty()) continue;
          const Verification result = verifier.verify(implementation, problem);
          EXPECT_TRUE(result.passed()) << result.message();
          const std::lock_guard lock(mutex);
          checked.insert(implementation.operation);
        }
      }
      return "";
    });
  }
  EXPECT_THAT(checked, testing::IsSupersetOf({"geglu_mlp_tp", "geglu_mlp_sp", "swiglu_mlp_tp",
                                              "all_reduce", "all_gather", "reduce_scatter"}));
}

TEST(EveryParallelImplementation, IsRefusedOnAllRanksWhereOneIsWrong) {
  Implementation wrong = find_implementation("geglu_mlp_tp", "gathered", "cpu");
  wrong.prepare = [honest = wrong.prepare](Device& device, const Problem& problem, Inputs in,
                                           const Outputs& out) {
    PreparedKernel kernel = honest(device, problem, in, out);
    if (device.ranks().is_first()) return kernel;
    const Tensor to = out[0];
    kernel.stages.back().launch = [reduce = kernel.stages.back().launch, to] {
      reduce();
      store_element(to.data, to.dtype, 5, 1e4);
    };
    return kernel;
  };
  const auto messages = on_ranks(2, [&](Device& device) {
    return Verifier(device, 1).verify(wrong, over_ranks(2, 4, 8, 16, Dtype::kFp32)).message();
  });
  EXPECT_THAT(messages, testing::Each(HasSubstr("rank 1: wrong result: relative error")));
}

TEST(EveryParallelImplementation, RefusesOtherNumbersOfRanksAndUnequalParts) {
  const Implementation& gathered = find_implementation("geglu_mlp_sp", "gathered", "cpu");
  const auto device = open_device("cpu");
  EXPECT_EQ(refusal(gathered, *device, over_ranks(2, 4, 8, 16, Dtype::kFp32)),
            "it needs 2 ranks, and there are 1; --ranks=2 starts as many");
  const auto refusals = [&](const Problem& problem) {
    return on_ranks(3, [&](Device& own) { return refusal(gathered, own, problem); });
  };
  EXPECT_THAT(refusals(over_ranks(3, 6, 8, 16, Dtype::kFp32)),
              testing::Each("hidden 16 is not a multiple of 3 ranks"));
  EXPECT_THAT(refusals(over_ranks(3, 4, 8, 18, Dtype::kFp32)),
              testing::Each("4 rows are not a multiple of 3 ranks"));
  EXPECT_THAT(refusals(ladder_problem(1, 6, 8, 18, Dtype::kFp32)),
              testing::Each("it needs the axis 'ranks'"));
}

}  // namespace
}  // namespace fusegate::kernels
