// Figures against a program that is measured again each night: of two programs side by side the
// machine moves both. A reference is a level of its own. Where another takes its place, its level
// is linked to the last one: it is a night's commit, whose code is known, or else the stored
// figures say where the code is tonight.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "baselines/changes/night_noise.h"
#include "baselines/changes/night_row.h"

namespace fusegate::baselines {

class ReplayFigures {
 public:
  static constexpr int kKeys = 1'000'000;  // keys of references are from here on

  // Sets each row's replay. code_of_reference: by benchmark what the reference's code takes, where
  // it was a night's commit.
  void read(const Night& night, const std::vector<double>& code_of_reference, NightRows& rows);
  // What is left moves the levels; code, where the night's figure was another one's.
  void learn(const NightRow& row, double left);
  void take_back(int key, std::size_t benchmark, double amount);

  NightNoise& noise() { return noise_; }
  const NightNoise& noise() const { return noise_; }

 private:
  Figure figure_of(const NightRow& row, const std::vector<double>& code_of_reference);

  std::map<std::string, int> keys_;
  std::vector<std::vector<Level>> levels_;
  int current_ = 0;
  bool is_new_ = false;
  NightNoise noise_;
};

}  // namespace fusegate::baselines
