// What moved everything: another driver, library or method, or a card.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "baselines/changes/night_noise.h"
#include "baselines/changes/night_row.h"
#include "baselines/changes/stored_figures.h"
#include "baselines/history/change_point.h"
#include "baselines/changes/cusum.h"
#include "baselines/changes/pelt.h"

namespace fusegate::baselines {

// Each is reported in the second night that shows it.
class MachineChanges {
 public:
  explicit MachineChanges(const CusumRule& rule) : rule_(rule) {}

  // nights: up to this one, of one device; stored has read the last.
  std::vector<ChangePoint> read(std::span<const Night* const> nights, const NightRows& rows,
                                StoredFigures& stored);

 private:
  struct Move {
    std::string name;
    double sum = 0, variance = 0;
    int nights = 0;
  };
  struct ShiftPoint {
    std::size_t night = 0;
    KnownNormal shift{};
  };
  struct Card {
    Cusum cusum{};
    std::vector<ShiftPoint> points{};
    double mean = 0, nights = 1;  // of shifts since its levels were learnt
    double off = 0;  // where it is unlike the others from its first night on: the difference
    double error = 0;
    std::size_t others = 0;
    std::size_t first_night = 0;
  };

  void add_moves(const NightRows& rows);
  void report_environment(std::span<const Night* const> nights,
                          std::vector<ChangePoint>& reported) const;
  void report_known_card(std::span<const Night* const> nights, const NightRows& rows,
                         StoredFigures& stored, std::vector<ChangePoint>& reported);
  void add_shift(std::size_t night, const MachineShift& shift, Card& card);
  void note_new_card(std::size_t night, const MachineShift& shift);

  CusumRule rule_;
  NightNoise shifts_;          // of known cards from night to night
  std::map<int, Card> cards_;  // by key
  std::size_t first_of_environment_ = 0;
  std::map<std::size_t, Move> moves_;  // by benchmark, in the first two nights of an environment
};

}  // namespace fusegate::baselines
