// Ranks as processes that this test forks.
#include "bench/ranks/ranks_in_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <functional>
#include <thread>

#include "bench/ranks/interrupt.h"

namespace fusegate::bench {
namespace {

using testing::ElementsAre, testing::HasSubstr;

class RanksInProcessesTest : public testing::Test {
 protected:
  ~RanksInProcessesTest() override {
    is_agreed_on = false;
    signalled = 0;
  }

  // The first of two ranks; the other runs the function and ends with what it returns.
  std::unique_ptr<RanksInProcesses> first(const std::function<int(kernels::Ranks&)>& other) {
    std::array<int, 2> pair{};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) != 0) throw std::runtime_error("sockets");
    baselines::FileDescriptor ours(pair[0]), theirs(pair[1]);
    auto notes = std::make_shared<Notes>();
    const pid_t pid = fork();
    if (pid == 0) {
      ours.close();
      RanksInProcesses ranks(1, 2, std::move(theirs), notes);
      int code = 3;
      try {
        code = other(ranks);
      } catch (const kernels::RankError&) {
      }
      _exit(code);
    }
    std::vector<OtherRank> others;
    others.push_back({.socket = std::move(ours), .pid = pid});
    return std::make_unique<RanksInProcesses>(std::move(others), notes);
  }

  static std::string error_of(const std::function<void()>& run) {
    try {
      run();
      return "";
    } catch (const kernels::RankError& error) {
      return error.what();
    }
  }
};

TEST_F(RanksInProcessesTest, GiveEachOtherWhatTheyHave) {
  const auto ranks = first([](kernels::Ranks& own) {
    own.note("counting");
    own.shared_numbers()[kernels::Ranks::kNumbersApart] = 7;
    const auto texts = own.gather("names", "other");
    own.wait("the end");
    return texts == std::vector<std::string>{"first", "other"} ? 0 : 1;
  });
  EXPECT_THAT(ranks->gather("names", "first"), ElementsAre("first", "other"));
  EXPECT_EQ(ranks->whereabouts(), "rank 0: ?; rank 1: counting");
  EXPECT_EQ(ranks->shared_numbers()[0], 0);
  EXPECT_EQ(ranks->shared_numbers()[kernels::Ranks::kNumbersApart], 7);
  ranks->wait("the end");
  EXPECT_THAT(error_of([&] { ranks->wait("more"); }), HasSubstr("rank 1 ended with exit code 0"));
}

TEST_F(RanksInProcessesTest, SayWhichRankHasEndedAndWhereItWas) {
  const auto ranks = first([](kernels::Ranks& own) {
    own.note("stage 'all_reduce'");
    raise(SIGKILL);
    return 0;
  });
  EXPECT_EQ(error_of([&] { ranks->wait("a batch"); }),
            "rank 1 was ended by signal 9 (Killed); it was at 'stage 'all_reduce''");
}

TEST_F(RanksInProcessesTest, FailTogetherWhereOneIsElsewhere) {
  const auto fail = [](kernels::Ranks& own) {
    own.together("preparing", [] { throw std::runtime_error("no memory"); });
    return 0;
  };
  const auto ranks = first(fail);
  EXPECT_EQ(error_of([&] { ranks->together("preparing", [&] { ranks->wait("nccl id"); }); }),
            "rank 1: no memory");
  const auto others = first([](kernels::Ranks& own) {
    own.wait("a batch");
    return 0;
  });
  EXPECT_EQ(error_of([&] { others->wait("a sample"); }),
            "rank 1 is at 'a batch', and rank 0 at 'a sample'");
}

// As where the first waits for its device, which waits for the other's.
TEST_F(RanksInProcessesTest, KnowWhyOneFailedBeforeTheyMeet) {
  const auto ranks = first([](kernels::Ranks& own) {
    own.together("a call", [] { throw std::runtime_error("no memory"); });
    return 0;
  });
  const std::string expected = "rank 0: ?; rank 1: no memory";
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (ranks->whereabouts() != expected && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(ranks->whereabouts(), expected);
  EXPECT_EQ(error_of([&] { ranks->together("a call", [] {}); }), "rank 1: no memory");
}

TEST_F(RanksInProcessesTest, SeeASignalAtTheSamePoint) {
  const auto ranks = first([](kernels::Ranks& own) {
    const bool before = interrupted();
    own.wait("one");
    const bool then = interrupted();
    own.wait("two");
    return !before && !then && interrupted() ? 0 : 1;
  });
  ranks->wait("one");
  signalled = 1;
  EXPECT_FALSE(interrupted());
  ranks->wait("two");
  EXPECT_TRUE(interrupted());
  EXPECT_THAT(error_of([&] { ranks->wait("three"); }), HasSubstr("exit code 0"));
}

}  // namespace
}  // namespace fusegate::bench
