// Each fault of the emulated cluster, by a kernel that causes it, and what the cluster computes.
#include "tests/emulation/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "kernels/cuda/device/tensor_map.h"
#include "tests/emulation/mma.h"
#include "tests/emulation/ptx.h"
#include "tests/emulation/wgmma.h"

namespace fusegate::kernels::sm90 {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

constexpr int kThreads = 128;
constexpr std::uint32_t kBarrier = emulation::kSharedBase, kBox = 2048, kBoxOfW = 2048 + 64 * 128;
constexpr std::size_t kSharedBytes = 32 << 10;

// A kernel's fault in any of several orders, or "".
template <typename Kernel>
std::string fault_of(const Kernel& kernel, int blocks = 1) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    try {
      Cluster(blocks, kThreads, kSharedBytes, seed).run(0, 0, blocks, kernel);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }
  return "";
}

bool is_first() { return threadIdx.x == 0; }

// By the first thread; all others go on when it is done.
void begin(int arrivals, bool fences = true) {
  if (is_first()) {
    barrier_init(kBarrier, arrivals);
    if (fences) fence_barrier_init();
  }
  __syncthreads();
}

// A matrix of 64 x 64 ones.
class Ones {
 public:
  CUtensorMap map() { return make_tensor_map({values_.data(), {64, 64}, Dtype::kBf16}, 64, 64); }
  const std::vector<std::uint16_t>& values() const { return values_; }

 private:
  std::vector<std::uint16_t> values_ = std::vector<std::uint16_t>(64 * 64, 0x3f80);
};

void load_both(const CUtensorMap& map) {
  barrier_expect_bytes(kBarrier, 2 * 64 * 128);
  load_box(map, kBox, kBarrier, 0, 0);
  load_box(map, kBoxOfW, kBarrier, 0, 0);
}

// d: 64 x 64 sums over 16 columns. a: address of the rows of x.
void multiply(float (&d)[32], std::uint32_t a = kBox) {
  wgmma<__nv_bfloat16, 64>(d, matrix_descriptor(a), matrix_descriptor(kBoxOfW), 0);
  wgmma_commit();
}

// The fault of a kernel that calls use(sums) when both boxes are loaded.
template <typename Use>
std::string fault_of_use(const Use& use) {
  Ones ones;
  const CUtensorMap map = ones.map();
  return fault_of([&] {
    begin(1);
    if (is_first()) load_both(map);
    barrier_wait(kBarrier, 0);
    float d[32] = {};
    use(d);
  });
}

TEST(EmulatedCluster, MultipliesWhatItHasLoaded) {
  EXPECT_EQ(fault_of_use([](auto& d) {
              multiply(d);
              EXPECT_EQ(d[0], 0) << "done before it was waited for";
              wgmma_wait<0>();
              EXPECT_THAT(d, testing::Each(16));
            }),
            "");
}

// Of 64 columns, the n-th multiplies by n.
TEST(EmulatedCluster, MultipliesAnOperandThatLiesAsKByN) {
  std::vector<std::uint16_t> ones(64 * 64, 0x3f80), rising(64 * 64);
  for (int i = 0; i < 64 * 64; ++i) {
    const __nv_bfloat16 value(static_cast<float>(i % 64));
    std::memcpy(&rising[static_cast<std::size_t>(i)], &value, sizeof(value));
  }
  const CUtensorMap x = make_tensor_map({ones.data(), {64, 64}, Dtype::kBf16}, 64, 64);
  const CUtensorMap w = make_tensor_map({rising.data(), {64, 64}, Dtype::kBf16}, 64, 64);
  EXPECT_EQ(fault_of([&] {
              begin(1);
              if (is_first()) {
                barrier_expect_bytes(kBarrier, 2 * 64 * 128);
                load_box(x, kBox, kBarrier, 0, 0);
                load_box(w, kBoxOfW, kBarrier, 0, 0);
              }
              barrier_wait(kBarrier, 0);
              float d[32] = {};
              wgmma<__nv_bfloat16, 64, true>(d, matrix_descriptor(kBox),
                                             plain_descriptor(kBoxOfW + 2048, 8192), 0);
              wgmma_commit();
              wgmma_wait<0>();
              for (int i = 0; i < 32; ++i) {
                const int column = i / 4 * 8 + static_cast<int>(threadIdx.x) % 4 * 2 + i % 2;
                EXPECT_EQ(d[i], 16 * column) << i;
              }
            }),
            "");
}

TEST(EmulatedCluster, AProductOfWhatIsNotThereYetIsRefused) {
  Ones ones;
  const CUtensorMap map = ones.map();
  EXPECT_THAT(fault_of([&] {
                begin(1);
                if (is_first()) load_both(map);
                __syncthreads();
                float d[32] = {};
                multiply(d);
                wgmma_wait<0>();
              }),
              HasSubstr("not there yet"));
}

TEST(EmulatedCluster, SumsThatNobodyWaitsForAreRefused) {
  EXPECT_THAT(fault_of_use([](auto& d) { multiply(d); }),
              HasSubstr("before its products are done"));
}

TEST(EmulatedCluster, WgmmasThatDifferWithinAWarpgroupAreRefused) {
  EXPECT_THAT(fault_of_use([](auto& d) {
                multiply(d, threadIdx.x < 64 ? kBox : kBoxOfW);
                wgmma_wait<0>();
              }),
              HasSubstr("wgmmas differ"));
}

// The fault where the first thread writes a box's first 16 bytes and stores the box.
std::string fault_of_storing(Ones& ones, bool fences, bool waits) {
  const CUtensorMap map = ones.map();
  return fault_of([&] {
    if (!is_first()) return;
    wait_for_previous_kernel();
    store_shared(kBox, {});
    if (fences) fence_async_proxy();
    store_box(map, kBox, 0, 0);
    commit_stores();
    if (waits) wait_stores();
  });
}

TEST(EmulatedCluster, AStoreWritesTheMatrixAndIsFencedAndWaitedFor) {
  Ones ones;
  EXPECT_EQ(fault_of_storing(ones, true, true), "");
  EXPECT_EQ(ones.values()[0], 0);
  EXPECT_EQ(ones.values()[8], 0xffff) << "unwritten memory is NaN";
  EXPECT_THAT(fault_of_storing(ones, false, true), HasSubstr("not fenced"));
  EXPECT_THAT(fault_of_storing(ones, true, false), HasSubstr("before its stores have read"));
}

// What is stored of zeros that are overwritten with ones when all but so many of two groups have
// been read, in any of several orders.
template <int kUnderWay>
std::set<std::uint16_t> stored_before_ones() {
  Ones first, second;
  const CUtensorMap map = first.map(), other = second.map();
  std::set<std::uint16_t> stored;
  EXPECT_EQ(fault_of([&] {
              if (!is_first()) return;
              wait_for_previous_kernel();
              for (const std::uint32_t box : {kBox, kBoxOfW}) {
                store_shared(box, {});
                fence_async_proxy();
                store_box(box == kBox ? map : other, box, 0, 0);
                commit_stores();
              }
              wait_stores_read<kUnderWay>();
              store_shared(kBox, {0x3f803f80, 0, 0, 0});
              wait_stores();
              stored.insert(first.values()[0]);
            }),
            "");
  return stored;
}

TEST(EmulatedCluster, AGroupOfStoresMayBeWaitedForWhileTheNextIsUnderWay) {
  EXPECT_THAT(stored_before_ones<0>(), testing::ElementsAre(0));
  EXPECT_THAT(stored_before_ones<1>(), testing::ElementsAre(0));
  EXPECT_THAT(stored_before_ones<2>(), testing::Contains(0x3f80)) << "nobody waited for the first";
}

TEST(EmulatedCluster, AStoreBeforeTheKernelAheadHasEndedIsRefused) {
  Ones ones;
  const CUtensorMap map = ones.map();
  EXPECT_THAT(fault_of([&] {
                if (is_first()) store_box(map, kBox, 0, 0);
              }),
              HasSubstr("before it waits for the kernel ahead"));
}

// The first thread copies 16 bytes of ones.
std::string fault_of_copying(bool waits) {
  const std::vector<std::uint16_t> ones(8, 0x3f80);
  return fault_of([&] {
    if (!is_first()) return;
    cp_async_16(kBox, ones.data(), true);
    cp_async_commit();
    if (!waits) return;
    cp_async_wait<0>();
    EXPECT_EQ(load_shared(kBox).w, 0x3f803f80);
  });
}

TEST(EmulatedCluster, ACopyIsThereWhenItWasWaitedFor) { EXPECT_EQ(fault_of_copying(true), ""); }

TEST(EmulatedCluster, AThreadThatEndsBeforeItsCopiesAreThereIsRefused) {
  EXPECT_THAT(fault_of_copying(false), HasSubstr("before its copies are there"));
}

TEST(EmulatedCluster, ADeadlockNamesWhoWaitsForWhat) {
  EXPECT_EQ(fault_of([] {
              begin(2);
              if (is_first()) barrier_arrive(kBarrier);
              if (threadIdx.x < 32) {
                barrier_wait(kBarrier, 0);
              } else {
                named_sync(1, 128);
              }
            }),
            "deadlock: 32 threads wait for a barrier in shared memory, 96 threads wait for a named "
            "barrier");
}

TEST(EmulatedCluster, OneTooManyAtABarrierIsRefused) {
  EXPECT_THAT(fault_of([] {
                begin(1);
                if (threadIdx.x < 2) barrier_expect_bytes(kBarrier, 8);
              }),
              HasSubstr("more threads arrive at a barrier"));
}

TEST(EmulatedCluster, MemoryOutsideOfTheBlocksIsRefused) {
  EXPECT_THAT(fault_of([] { load_shared(emulation::kSharedBase - 16); }),
              HasSubstr("not the block's"));
  EXPECT_THAT(fault_of([] { load_shared(emulation::kSharedBase + kSharedBytes); }),
              HasSubstr("not the block's"));
}

// Each block gives the other 16 bytes. meets: when all have started; waits: until it has its own.
std::string fault_of_giving(bool meets, bool waits) {
  return fault_of(
      [=] {
        begin(1);
        if (is_first()) barrier_expect_bytes(kBarrier, 16);
        if (meets) cluster_sync();
        if (is_first()) store_to_block(kBox, cluster_rank() ^ 1, {1, 2, 3, 4}, kBarrier);
        if (!waits) return;
        barrier_wait(kBarrier, 0);
        EXPECT_EQ(load_shared_floats(kBox).z, 3);
      },
      2);
}

TEST(EmulatedCluster, ABlockThatIsWrittenBeforeItStartsOrAfterItEndsIsRefused) {
  EXPECT_EQ(fault_of_giving(true, true), "");
  EXPECT_THAT(fault_of_giving(false, true),
              AnyOf(HasSubstr("before it has started"), HasSubstr("no barrier was initialised")));
  EXPECT_THAT(fault_of_giving(true, false),
              AnyOf(HasSubstr("after it has ended"), HasSubstr("before all that it loads")));
}

TEST(EmulatedCluster, ABarrierThatIsNotFencedIsKnownToItsBlockAlone) {
  const auto uses_after_begin = [](bool fences, int rank) {
    return fault_of(
        [=] {
          begin(1, fences);
          cluster_sync();
          if (is_first()) barrier_arrive_at(kBarrier, cluster_rank() ^ rank);
          barrier_wait(kBarrier, 0);
          cluster_sync();
        },
        2);
  };
  EXPECT_EQ(uses_after_begin(true, 1), "");
  EXPECT_EQ(uses_after_begin(false, 0), "");
  EXPECT_THAT(uses_after_begin(false, 1), HasSubstr("is not fenced"));
  EXPECT_THAT(fault_of([] {
                begin(1, false);
                if (!is_first()) return;
                Ones ones;
                barrier_expect_bytes(kBarrier, 64 * 64 * 2);
                load_box(ones.map(), kBox, kBarrier, 0, 0);
              }),
              HasSubstr("is not fenced"));
}

TEST(EmulatedCluster, EachSeedIsAnotherOrder) {
  std::set<int> first;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    int ran = -1;
    Cluster(1, kThreads, kSharedBytes, seed).run(0, 0, 1, [&] {
      if (ran < 0) ran = threadIdx.x;
    });
    first.insert(ran);
  }
  EXPECT_GT(first.size(), 10U);
}

}  // namespace
}  // namespace fusegate::kernels::sm90
