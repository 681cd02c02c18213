#include "ci/peers/peer_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

fusegate::baselines::Run run() {
  fusegate::baselines::Run run;
  run.source = "ours";
  run.session = "a session";
  run.environment = {{"device", "NVIDIA H200"}, {"driver", "580"},      {"cuda", "13.0"},
                     {"nccl", "2.30.7"},        {"power_limit_w", 700}, {"max_sm_clock_mhz", 1980}};
  run.provenance.device_uuid = "GPU-1";
  run.provenance.protocol = {{"batch_ns", 1500000}, {"idle_ns", 3000000}, {"samples", 48},
                             {"regime", "burst"},   {"l2", "warm"},       {"layout", "numbered"},
                             {"layouts", 48}};
  return run;
}

fusegate::baselines::Run peer_run() {
  fusegate::baselines::Run peers = run();
  peers.source = "theirs";
  return peers;
}

std::string refusal(const fusegate::baselines::Run& peers, bool allow = false) {
  try {
    check_peer_environment(run(), peers, allow);
  } catch (const baselines::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(PeerEnvironment, MustBeOfTheSameDeviceAndDriver) {
  EXPECT_EQ(refusal(peer_run()), "");
  fusegate::baselines::Run other = peer_run();
  other.environment["driver"] = "575";
  EXPECT_EQ(
      refusal(other),
      "theirs: environment.driver: is \"575\", but \"580\" in ours: peers are compared on "
      "the same device and driver; --allow-environment-difference compares them all the same");
  EXPECT_EQ(refusal(other, true), "");
  EXPECT_THAT(peer_notes(run(), other),
              ElementsAre("warning: peers were measured in another environment: driver: 580 here, "
                          "575 there"));
  other = peer_run();
  other.environment.erase("device");
  EXPECT_THAT(refusal(other), HasSubstr("environment.device: is missing, but \""));
}

TEST(PeerEnvironment, MayHaveLibrariesOfItsOwnAndRecordLess) {
  fusegate::baselines::Run other = peer_run();
  other.environment["cuda"] = "12.8";
  other.environment["nccl"] = "2.28.9";
  other.environment["torch"] = "2.9";
  other.environment.erase("max_sm_clock_mhz");
  EXPECT_EQ(refusal(other), "");
  other.environment["power_limit_w"] = 600;
  EXPECT_THAT(refusal(other), HasSubstr("environment.power_limit_w: is \"600\""));
}

TEST(PeerNotes, AreNoneForARunOfTheSameCommandAndProtocol) {
  EXPECT_THAT(peer_notes(run(), peer_run()), IsEmpty());
}

TEST(PeerNotes, ReportTheLayoutAsAFactAndAllElseAsAWarning) {
  fusegate::baselines::Run other = peer_run();
  other.provenance.protocol["layout"] = "driver";
  other.provenance.protocol.erase("layouts");
  EXPECT_THAT(peer_notes(run(), other),
              ElementsAre("tensors lie as layout \"numbered\" has them here, \"driver\" there"));
  other.provenance.protocol["samples"] = 30;
  other.provenance.protocol.erase("l2");
  EXPECT_THAT(
      peer_notes(run(), other),
      ElementsAre(HasSubstr("layout"),
                  "warning: peers were measured by another protocol: protocol.l2: warm here, "
                  "(absent) there; protocol.samples: 48 here, 30 there"));
  other.provenance.protocol = nullptr;
  EXPECT_THAT(peer_notes(run(), other), ElementsAre("warning: the peers' run records no protocol"));
}

TEST(PeerNotes, ReportAnotherCardAndAnotherCommand) {
  fusegate::baselines::Run other = peer_run();
  other.provenance.device_uuid = "GPU-2";
  other.session.clear();
  EXPECT_THAT(peer_notes(run(), other),
              ElementsAre("warning: peers were measured on another card of this model",
                          "peers were not measured by the command that measured ours"));
}

}  // namespace
}  // namespace fusegate::ci
