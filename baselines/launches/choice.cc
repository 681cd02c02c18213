#include "baselines/launches/choice.h"

namespace fusegate::baselines {
namespace {

constexpr std::string_view kRank = ": candidate ";

}  // namespace

bool is_autotuned(std::string_view choice) { return choice.find(kRank) != choice.npos; }

std::string_view choice_name(std::string_view choice) {
  const std::size_t rank = choice.find(kRank);
  const std::size_t end = rank == choice.npos ? rank : choice.find(", ", rank);
  return end == choice.npos ? choice : choice.substr(end + 2);
}

}  // namespace fusegate::baselines
