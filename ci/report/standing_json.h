// How implementations stand, as the page's model has it.
#pragma once

#include <nlohmann/json.hpp>

#include "ci/figures/standing.h"

namespace fusegate::ci {

// {peers, notes, operations: [{operation, dtype, has_floors, ours, peers, problems: [{problem,
// best, best_peer, ratio, ours, peers}]}]}. An implementation is {name, time_ns, failure, floor_ns,
// time_over_floor, copy_share, gemm_share, class, class_on_stream, class_text}, those of a problem
// by name; what is not known is null.
nlohmann::json standings_json(const Standings& standings);

// floor_ns, time_over_floor, copy_share and gemm_share; class, class_on_stream and class_text.
nlohmann::json floor_json(const Floor& floor, const BoundClass& bound);

}  // namespace fusegate::ci
