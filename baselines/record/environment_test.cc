#include "baselines/record/environment.h"

#include <gtest/gtest.h>

namespace fusegate::baselines {
namespace {

TEST(EnvironmentDifferences, EqualAndEmptyEnvironmentsDoNotDiffer) {
  const Environment h200{{"device", "NVIDIA H200"}, {"power_limit_w", 700}, {"ecc", true}};
  EXPECT_TRUE(environment_differences(h200, h200).empty());
  EXPECT_TRUE(environment_differences({}, {}).empty());
}

TEST(EnvironmentDifferences, NamesEachFieldWithBothValues) {
  const Environment baseline{{"device", "NVIDIA H200"}, {"driver", "580"}, {"power_limit_w", 700}};
  const Environment candidate{{"device", "NVIDIA H200"}, {"mig", false}, {"power_limit_w", 600}};
  const auto differences = environment_differences(baseline, candidate);
  ASSERT_EQ(differences.size(), 3u);
  EXPECT_EQ(differences[0].field, "driver");
  EXPECT_EQ(differences[0].baseline, "580");
  EXPECT_EQ(differences[0].candidate, "(absent)");
  EXPECT_EQ(differences[1].field, "mig");
  EXPECT_EQ(differences[1].baseline, "(absent)");
  EXPECT_EQ(differences[1].candidate, "false");
  EXPECT_EQ(differences[2].field, "power_limit_w");
  EXPECT_EQ(differences[2].baseline, "700");
  EXPECT_EQ(differences[2].candidate, "600");
}

TEST(EnvironmentDifferences, AnIntegerEqualsTheSameNumberWithAPoint) {
  EXPECT_TRUE(
      environment_differences({{"power_limit_w", 700}}, {{"power_limit_w", 700.0}}).empty());
}

TEST(DeviceSlug, KeepsLettersAndDigits) {
  EXPECT_EQ(device_slug({{"device", "NVIDIA H200"}}), "nvidia-h200");
  EXPECT_EQ(device_slug({{"device", "NVIDIA A100-SXM4-80GB"}}), "nvidia-a100-sxm4-80gb");
  EXPECT_EQ(device_slug({{"device", "Intel(R) Xeon(R) CPU @ 2.20GHz "}}),
            "intel-r-xeon-r-cpu-2-20ghz");
}

TEST(EnvironmentDifferences, NcclDiffersOnlyWhereBothSidesLoadIt) {
  EXPECT_TRUE(environment_differences({{"nccl", "2.28.9"}}, {}).empty());
  EXPECT_TRUE(environment_differences({}, {{"nccl", "2.28.9"}}).empty());
  EXPECT_EQ(environment_differences({{"nccl", "2.28.9"}}, {{"nccl", "2.29.2"}}).size(), 1u);
}

TEST(DeviceSlug, CannotLeaveTheStore) { EXPECT_EQ(device_slug({{"device", "../../etc"}}), "etc"); }

TEST(DeviceSlug, UnknownWhereNoneIsNamed) {
  EXPECT_EQ(device_slug({}), "unknown-device");
  EXPECT_EQ(device_slug({{"device", 5}}), "unknown-device");
  EXPECT_EQ(device_slug({{"device", "..."}}), "unknown-device");
}

TEST(ProtocolDifferences, NameWhatWasMeasuredInAnotherWay) {
  const nlohmann::json five{{"idle_ns", 5'000'000}, {"samples", 48}, {"min_effect", 0.003}};
  const nlohmann::json three{{"idle_ns", 3'000'000}, {"samples", 48}, {"order", "interleaved"}};
  const auto differences = protocol_differences(five, three);
  ASSERT_EQ(differences.size(), 2u);
  EXPECT_EQ(differences[0].field, "protocol.idle_ns");
  EXPECT_EQ(differences[0].baseline, "5000000");
  EXPECT_EQ(differences[0].candidate, "3000000");
  EXPECT_EQ(differences[1].field, "protocol.order");
  EXPECT_EQ(differences[1].baseline, "(absent)");
}

TEST(ProtocolDifferences, NoneWhereARunRecordsNoProtocol) {
  EXPECT_TRUE(protocol_differences(nullptr, {{"idle_ns", 5}}).empty());
  EXPECT_TRUE(protocol_differences(nlohmann::json::object(), {{"idle_ns", 5}}).empty());
  EXPECT_TRUE(protocol_differences({{"min_effect", 1}, {"l2", "warm"}}, {{"l2", "warm"}}).empty());
  EXPECT_TRUE(protocol_differences({{"l2", "warm"}}, {{"allow", 0.02}, {"l2", "warm"}}).empty());
  EXPECT_TRUE(protocol_differences({{"host_min_effect", 0.2}, {"host_min_ns", 500}, {"l2", "warm"}},
                                   {{"l2", "warm"}})
                  .empty());
}

TEST(EnvironmentDifferences, ANumberAndItsTextAreTheSame) {
  EXPECT_TRUE(
      environment_differences({{"power_limit_w", "700"}}, {{"power_limit_w", 700}}).empty());
  EXPECT_TRUE(
      environment_differences({{"power_limit_w", 700.0}}, {{"power_limit_w", "700"}}).empty());
  EXPECT_EQ(environment_differences({{"ecc", "on"}}, {{"ecc", true}}).size(), 1u);
  EXPECT_EQ(environment_differences({{"a", "7e2"}}, {{"a", "700"}}).size(), 1u);
}

TEST(EnvironmentDifferences, GoogleBenchmarkWritesMoreWithEveryVersion) {
  EXPECT_TRUE(
      environment_differences({{"device", "x"}}, {{"device", "x"}, {"library_version", "1.8"}})
          .empty());
  EXPECT_EQ(environment_differences({{"num_cpus", 8}}, {{"num_cpus", 4}}).size(), 1u);
  EXPECT_TRUE(environment_differences({{"mhz_per_cpu", 2400}}, {{"mhz_per_cpu", 2395}}).empty());
  EXPECT_EQ(environment_differences({{"mhz_per_cpu", 2400}}, {{"mhz_per_cpu", 3219}}).size(), 1u);
}

}  // namespace
}  // namespace fusegate::baselines
