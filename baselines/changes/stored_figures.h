// Figures against those of earlier nights, at equal clock, with what the card and the night's
// machine did taken out. A card has levels of its own in each environment. What all benchmarks of
// unchanged code did is the machine's; of a card that nobody saw before, so are two factors by
// which cards differ (leading_factors.h), once four cards are known.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "baselines/changes/night_noise.h"
#include "baselines/changes/night_row.h"
#include "baselines/statistics/leading_factors.h"

namespace fusegate::baselines {

// What the night's machine did to all benchmarks of unchanged code, as a logarithm.
struct MachineShift {
  int key = -1;         // of the card and the environment
  bool is_new = false;  // nothing was known of the card; the shift is from the mean of the others
  double value = 0;
  double variance = 0;                // of its estimate; 0 where it was not estimated
  std::vector<double> other_cards{};  // of a new card: the same of the others
};

class StoredFigures {
 public:
  // Sets each row's stored and moved; row.replay is set.
  void read(const Night& night, NightRows& rows);
  // What is left of the night's figure moves the level.
  void learn(const NightRow& row, double left);
  void take_back(int key, std::size_t benchmark, double amount);
  // All levels of a card: the card changed.
  void move_card(int key, double amount);
  // Variances and factors anew. log_ns: one a benchmark.
  void estimate(const std::vector<double>& log_ns);

  const MachineShift& shift() const { return shift_; }
  const std::string& card(int key) const { return keys_[static_cast<std::size_t>(key)].card; }
  NightNoise& noise() { return noise_; }
  const NightNoise& noise() const { return noise_; }
  // The noise that the row's figure was judged by: a new card's is another one.
  double score(const NightRow& row, double left, double variance) const;

 private:
  enum class Kind { kFirst, kMoved, kNewCard };
  struct Key {
    std::string card, environment;
    Kind kind = Kind::kFirst;
    bool is_new = true;  // it is its first night
    int entered = 0;     // how many times the environment had changed when it was last seen
    std::vector<Level> levels{};
    std::vector<Level> expected{};  // by what was known before it
  };
  struct Mean {
    double sum = 0;
    int cards = 0;
  };
  // Of an environment, by benchmark.
  using Means = std::vector<Mean>;

  Key& key_of(const Night& night);
  void expect(Key& key);
  void expect_after_return(Key& key);
  bool expect_after_move(Key& key);
  void expect_mean(Key& key);
  Figure figure_of(const NightRow& row, const std::vector<Level>& levels) const;
  double night_share_of_new_card(std::size_t benchmark) const;
  Figure new_card_figure(const NightRow& row, const std::vector<Level>& levels) const;
  std::vector<FactorRow> factor_rows(const NightRows& rows, const std::vector<Level>& levels,
                                     bool with_factors) const;
  void take_out_machine(Key& key, NightRows& rows);
  void locate_new_card(Key& key, const NightRows& rows, const FactorScores& scores);
  void locate_moved_code(Key& key, NightRows& rows);
  void set_mean(Key& key, std::size_t benchmark, double mean);
  // By card, the latest first: deviations of its levels from the mean.
  std::vector<std::vector<double>> card_deviations(const std::string& environment) const;
  std::vector<double> shifts_of_cards(const std::string& environment) const;
  Factors factors_of(const std::string& environment) const;

  std::vector<Key> keys_;
  std::map<std::pair<std::string, std::string>, int> by_name_;  // card and environment
  std::string environment_, environment_before_;
  int environments_ = 0;
  std::map<std::string, Means> means_;
  Factors factors_;
  MachineShift shift_;
  NightNoise noise_, new_card_noise_;
  int new_cards_ = 0;  // that the latter was learnt from
};

}  // namespace fusegate::baselines
