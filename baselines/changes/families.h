// Benchmarks that one change moves together: those of an operation, and those that launch a kernel.
// Six of them that move by as much as one alone would hide in its noise show it together.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baselines/changes/night_noise.h"
#include "baselines/changes/track.h"
#include "baselines/changes/cusum.h"

namespace fusegate::baselines {

struct NightFamily {
  std::string name;  // "operation geglu_mlp", "kernel NAME"
  std::set<std::size_t> members{};
  Cusum cusum{};
};

// A night's standardised effect of a benchmark, and its variance before it was standardised.
struct NightScore {
  std::size_t benchmark = 0;
  double score = 0;
  double variance = 0;
};

class Families {
 public:
  // Its kernels by name: their machine code may change. Sets track.families.
  void assign(std::size_t benchmark, const std::string& operation, Track& track);
  // Pooled with inverse variances; a member counts for 3.5 standard errors at most.
  void add(const std::vector<NightScore>& night, const std::vector<Track>& tracks,
           const CusumRule& rule);
  void estimate();
  // Families that the benchmark is in begin anew.
  void reset(const Track& track);

  std::vector<NightFamily>& all() { return families_; }

 private:
  int number_of(const std::string& name);

  std::vector<NightFamily> families_;
  std::map<std::string, int> numbers_;
  NightNoise noise_;  // of pooled effects in standard errors, as members' noise is not independent
};

struct Mover {
  std::size_t benchmark = 0;
  DatedChange change{};
};

struct FamilyChange {
  std::size_t first_night = 0, night_before = 0;
  double effect = 0;  // logarithm, of the movers
  double variance = 0;
  std::vector<Mover> movers{};
  double share = 0;  // of the members that are judged
};

// When the members that are not `taken` changed together, and which of them did: who moved by half
// of what they did together, and a standard error, and who clearly moved alone. Nothing where it
// was fewer than two.
std::optional<FamilyChange> date_family(const NightFamily& family, const std::vector<Track>& tracks,
                                        int direction, const std::set<std::size_t>& taken);

}  // namespace fusegate::baselines
