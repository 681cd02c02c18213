#include "kernels/cuda/ranks/one_shot_plan.h"

#include <gtest/gtest.h>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/device/known_gpus.h"
#include "kernels/cuda/ranks/rank_exchange.h"

namespace fusegate::kernels {
namespace {

TEST(OneShotPlan, CoversTheMessageByBlocksAtWorkAtOneTime) {
  for (const auto& [name, gpu] : kKnownGpus) {
    for (std::int64_t bytes = 16; bytes <= kMostOneShotBytes;
         bytes = bytes * 5 / 3 / 16 * 16 + 16) {
      SCOPED_TRACE(testing::Message() << name << ", " << bytes << " bytes");
      const OneShotPlan plan = plan_all_reduce(bytes, 2, gpu);
      if (plan.packets > 0) {
        EXPECT_EQ(plan.packets * kPacketData, bytes);
        EXPECT_LE(plan.packets, kMostPackets);
      } else {
        EXPECT_EQ(plan.chunks, ceil_div(bytes, plan.chunk_bytes()));
        EXPECT_LE(plan.chunks, kDataFlags);
        EXPECT_LE(plan.blocks, plan.chunks);
      }
      EXPECT_LE(plan.blocks, kCounters);
      EXPECT_LE(plan.blocks, gpu.sm_count * kOneShotBlocks);
      EXPECT_TRUE(plan.vectors == 1 || plan.chunks >= gpu.sm_count);
    }
  }
}

TEST(OneShotPlan, HasLargerChunksOfLargerMessagesAndPacketsOfShortOnes) {
  EXPECT_EQ(plan_all_reduce(512 * 768 * 2, 8, kH200).vectors, 1);
  EXPECT_EQ(plan_all_reduce(512 * 4096 * 2, 2, kH200).vectors, kOneShotVectors);
  EXPECT_EQ(one_shot_text(plan_all_reduce(64 * 4096 * 2, 8, kH200)),
            "two_shot: 128 chunks of 4 KiB, 128 blocks");
  EXPECT_EQ(one_shot_text(plan_all_reduce(64 * 4096 * 2, 2, kH200)),
            "one_shot: 65536 packets, 256 blocks");
  EXPECT_EQ(one_shot_text(plan_all_reduce(16, 8, kH200)), "one_shot: 2 packets, 1 blocks");
}

TEST(OneShotPlan, SendsSumsOnAmongMoreThanTwo) {
  for (int ranks = 2; ranks <= kMostRanks; ++ranks) {
    const OneShotPlan plan = plan_all_reduce(4 << 20, ranks, kH200);
    EXPECT_EQ(plan.shots, ranks == 2 ? 1 : 2);
    EXPECT_GE(plan.blocks, ranks);  // each adds up a chunk at least, hence waits for all others
  }
}

TEST(OneShotPlan, SendsToManyRanksInPacketsOnlyWhatIsShort) {
  EXPECT_TRUE(fits_packets(kMostInPackets, 2));
  EXPECT_FALSE(fits_packets(kMostInPackets, 3));
  EXPECT_TRUE(fits_packets(kMostInPackets / 8, 8));
  EXPECT_EQ(plan_packets(kMostInPackets, kH200).packets, kMostPackets);
  EXPECT_THROW(plan_packets(kMostInPackets + 16, kH200), std::invalid_argument);
}

TEST(OneShotPlan, RefusesWhatItCannotShareOut) {
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{24}, 2 * kMostOneShotBytes}) {
    EXPECT_THROW(plan_all_reduce(bytes, 2, kH200), std::invalid_argument) << bytes;
  }
}

}  // namespace
}  // namespace fusegate::kernels
