// Which benchmarks are read together, and what a part of them is called. By names alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baselines/record/benchmark_name.h"

namespace fusegate::baselines {

struct FamilyMember {
  std::string benchmark;
  std::optional<BenchmarkName> name;  // nothing for those of other programs
  // Along the axes of the sweep: M, hidden, dim, and the dtype's place in the alphabet. Of other
  // programs' names there is one axis, the place in the family.
  std::vector<std::int64_t> position;
};

// The benchmarks of one operation and implementation, ordered along the axes. Dtypes stand in one
// family, so that those that agree can be said together. Of other programs: those whose names have
// the same part before the first '/', ordered by name, numbers in it by their value.
struct Family {
  std::string name;  // "geglu/fused"
  std::vector<FamilyMember> members;
};

// Ordered by name.
std::vector<Family> families_of(const std::vector<std::string>& benchmarks);

struct FamilyRange {
  std::string family;  // "geglu/fused/bf16", or "geglu/fused" where there are several dtypes in it
  std::string range;   // "M <= 1024", "M 128 to 512, hidden 11008", "all 12 shapes"
};

// part: indices of members, in rising order, at least one.
FamilyRange describe_range(const Family& family, const std::vector<std::size_t>& part);

}  // namespace fusegate::baselines
