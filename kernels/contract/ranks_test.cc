// What several ranks agree on, and what each holds of a tensor.
#include "kernels/contract/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>

#include "kernels/contract/ranks_in_threads.h"

namespace fusegate::kernels {
namespace {

using testing::ElementsAre;

// By rank, what the function returns there.
template <typename T>
std::vector<T> on_ranks(int count, const std::function<T(Ranks&)>& function) {
  std::vector<T> results(static_cast<std::size_t>(count));
  RanksInThreads(count).run([&](const std::shared_ptr<Ranks>& ranks) {
    results[static_cast<std::size_t>(ranks->rank())] = function(*ranks);
  });
  return results;
}

TEST(Ranks, OneAgreesWithItself) {
  Ranks one;
  EXPECT_FALSE(one.are_several());
  EXPECT_EQ(one.first("seed", 7), 7);
  EXPECT_FALSE(one.all("is so", false));
  EXPECT_EQ(one.any("failure", "text"), "text");
  EXPECT_THROW(one.together("work", [] { throw std::invalid_argument("own"); }),
               std::invalid_argument);
}

TEST(Ranks, AllDecideByTheSame) {
  EXPECT_THAT(on_ranks<std::uint64_t>(3, [](Ranks& r) { return r.first("seed", 5 + r.rank()); }),
              ElementsAre(5, 5, 5));
  EXPECT_THAT(on_ranks<double>(3, [](Ranks& r) { return r.largest("time", r.rank()); }),
              ElementsAre(2, 2, 2));
  EXPECT_THAT(on_ranks<double>(3, [](Ranks& r) { return r.sum("energy", r.rank()); }),
              ElementsAre(3, 3, 3));
  EXPECT_THAT(on_ranks<int>(2, [](Ranks& r) { return r.all("goes on", r.is_first()); }),
              ElementsAre(0, 0));
  EXPECT_THAT(
      on_ranks<double>(2, [](Ranks& r) { return r.largest("clock", r.is_first() ? NAN : 1); }),
      testing::Each(testing::IsNan()));
}

TEST(Ranks, FailTogetherByTheNameOfTheOneThatFails) {
  const auto texts = on_ranks<std::string>(2, [](Ranks& ranks) -> std::string {
    try {
      ranks.together("preparing", [&] {
        if (!ranks.is_first()) throw std::invalid_argument("no memory");
      });
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  });
  EXPECT_THAT(texts, testing::Each(std::string("rank 1: no memory")));
}

TEST(Ranks, FailTogetherWhereOneFailsBeforeAnExchange) {
  const auto failed = on_ranks<int>(2, [](Ranks& ranks) {
    try {
      ranks.together("preparing", [&] {
        if (!ranks.is_first()) throw std::invalid_argument("no memory");
        ranks.gather("nccl id", "id");
      });
      return 0;
    } catch (const std::exception&) {
      return 1;
    }
  });
  EXPECT_THAT(failed, ElementsAre(1, 1));
}

}  // namespace
}  // namespace fusegate::kernels
