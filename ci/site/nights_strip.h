// What all histories share: months, commits, drivers and cards below each other, as wide as the
// nights. Drawn once, for all pages.
#pragma once

#include <string>
#include <vector>

#include "baselines/history/night.h"

namespace fusegate::ci {

struct NightsStrip {
  std::string svg{};    // a file; stretched to any width
  std::string names{};  // of its rows, a file: what stands at the left
  int height = 0;       // of both, in CSS pixels
};

NightsStrip nights_strip(const std::vector<baselines::Night>& nights);

// A script that gives page.js the nights by name: date, commit, card, driver.
std::string nights_script(const std::vector<baselines::Night>& nights);

}  // namespace fusegate::ci
