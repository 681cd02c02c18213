// One device's nights, one after the other.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "baselines/changes/families.h"
#include "baselines/changes/find_missing.h"
#include "baselines/changes/judge_nights_options.h"
#include "baselines/changes/machine_changes.h"
#include "baselines/changes/replay_figures.h"
#include "baselines/changes/stored_figures.h"
#include "baselines/changes/track.h"

namespace fusegate::baselines {

class SuiteJudge {
 public:
  explicit SuiteJudge(const JudgeNightsOptions& options)
      : options_(options), machine_(options.families) {}

  // The change points that this night raises. The night stays where it is.
  std::vector<ChangePoint> add(const Night& night);
  // Benchmarks that a week of nights, the latest, left undecided.
  std::vector<MissingData> undecided() const;

 private:
  NightRows rows_of(const Night& night);
  std::size_t number_of(const NightBenchmark& own);
  std::vector<double> code_of_reference(const std::string& commit) const;
  std::vector<NightScore> judge(const NightRows& rows);
  NightScore judge(const NightRow& row);
  void learn_replay(const NightRow& row);
  void learn_stored(const NightRow& row);
  void estimate();

  void report_families(std::vector<ChangePoint>& reported);
  void report_benchmarks(std::vector<ChangePoint>& reported);
  std::set<std::size_t> alarmed(const NightFamily& family, int direction) const;
  ChangePoint describe(const FamilyChange& change) const;
  void accept(const Mover& mover);

  JudgeNightsOptions options_;
  std::vector<const Night*> nights_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<Track> tracks_;
  std::map<std::string, std::size_t> night_of_commit_;
  ReplayFigures replay_;
  StoredFigures stored_;
  Families families_;
  MachineChanges machine_;
};

}  // namespace fusegate::baselines
