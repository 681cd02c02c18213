#include "ci/peers/peer_match.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "baselines/io/error.h"

namespace fusegate::ci {
namespace {

// A field that one side alone records says that the programs record other things; of these it says
// that the samples were taken in another way.
constexpr std::array<std::string_view, 5> kNeededProtocol{
    "protocol.batch_ns", "protocol.idle_ns", "protocol.samples", "protocol.regime", "protocol.l2"};

bool both_record(const baselines::EnvironmentDifference& difference) {
  return difference.baseline != baselines::kAbsent && difference.candidate != baselines::kAbsent;
}

// What forbids a comparison. A peer brings its own CUDA, cuBLAS and NCCL, and is what its users
// get.
std::vector<baselines::EnvironmentDifference> forbidden_differences(const baselines::Run& ours,
                                                                    const baselines::Run& peers) {
  auto differences = baselines::environment_differences(ours.environment, peers.environment);
  std::erase_if(differences, [](const baselines::EnvironmentDifference& difference) {
    const std::string& field = difference.field;
    if (field == "device" || field == "driver") return false;
    return field == "cuda" || field == "cublas" || field == "nccl" || !both_record(difference);
  });
  return differences;
}

std::string quoted(const std::string& value) {
  return value == baselines::kAbsent ? std::string("missing") : fmt::format("\"{}\"", value);
}

std::string joined(const std::vector<baselines::EnvironmentDifference>& differences) {
  std::vector<std::string> texts;
  for (const auto& [field, here, there] : differences) {
    texts.push_back(fmt::format("{}: {} here, {} there", field, here, there));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

void add_protocol_notes(const baselines::Run& ours, const baselines::Run& peers,
                        std::vector<std::string>* notes) {
  if (peers.provenance.protocol.empty()) {
    notes->push_back("warning: the peers' run records no protocol");
    return;
  }
  std::vector<baselines::EnvironmentDifference> warned;
  for (const auto& difference :
       baselines::protocol_differences(ours.provenance.protocol, peers.provenance.protocol)) {
    if (difference.field == "protocol.layout") {
      notes->push_back(fmt::format("tensors lie as layout \"{}\" has them here, \"{}\" there",
                                   difference.baseline, difference.candidate));
    } else if (both_record(difference) ||
               std::ranges::find(kNeededProtocol, difference.field) != kNeededProtocol.end()) {
      warned.push_back(difference);
    }
  }
  if (!warned.empty()) {
    notes->push_back("warning: peers were measured by another protocol: " + joined(warned));
  }
}

}  // namespace

void check_peer_environment(const baselines::Run& ours, const baselines::Run& peers,
                            bool allow_differences) {
  const auto differences = forbidden_differences(ours, peers);
  if (differences.empty() || allow_differences) return;
  const baselines::EnvironmentDifference& first = differences.front();
  throw baselines::InputError(
      peers.source, "environment." + first.field,
      fmt::format("is {}, but {} in {}: peers are compared on the same device and "
                  "driver; --allow-environment-difference compares them all the same",
                  quoted(first.candidate), quoted(first.baseline), ours.source));
}

std::vector<std::string> peer_notes(const baselines::Run& ours, const baselines::Run& peers) {
  std::vector<std::string> notes;
  if (const auto differences = forbidden_differences(ours, peers); !differences.empty()) {
    notes.push_back("warning: peers were measured in another environment: " + joined(differences));
  }
  const std::string& our_card = ours.provenance.device_uuid;
  const std::string& their_card = peers.provenance.device_uuid;
  if (!our_card.empty() && !their_card.empty() && our_card != their_card) {
    notes.push_back("warning: peers were measured on another card of this model");
  }
  if (ours.session.empty() || ours.session != peers.session) {
    notes.push_back("peers were not measured by the command that measured ours");
  }
  add_protocol_notes(ours, peers, &notes);
  return notes;
}

}  // namespace fusegate::ci
