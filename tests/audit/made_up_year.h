// A year of nights that nobody measured, with what happened in it. The seed is fixed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "baselines/history/change_point.h"
#include "baselines/history/night.h"

namespace fusegate::baselines::audit {

struct PlantedChange {
  std::string subject;  // as ChangePoint has it
  std::string first_session;
  ChangeClass of_class;
  double effect;  // after over before, minus one
  std::size_t benchmarks;
};

// 358 nights from 2026-01-01 on, one a day, without the week from 2026-04-11 to 2026-04-17: 48
// benchmarks, six of them controls, on six cards in turn, each beside the replay of a reference.
std::vector<Night> made_up_year();

// In order. In one benchmark more, kCreeping, code grew by 0.01 % a night from kCreepBegins on.
std::vector<PlantedChange> planted_changes();
inline constexpr const char* kCreeping = "linear/addmm/bf16/batch:4/seq:128/dim:768";
inline constexpr const char* kCreepBegins = "2026-09-25";

// After the last night: four benchmarks of "geglu/unfused" and card "GPU-5" report no more.
std::int64_t end_of_made_up_year();

}  // namespace fusegate::baselines::audit
