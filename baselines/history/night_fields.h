// The fields of a night that columns and JSON have by the same names.
#pragma once

#include <array>
#include <utility>

#include "baselines/history/night.h"

namespace fusegate::baselines {

inline constexpr std::array kNightTexts{
    std::pair{"commit", &Night::commit},   std::pair{"parent", &Night::parent},
    std::pair{"device", &Night::device},   std::pair{"card", &Night::card},
    std::pair{"machine", &Night::machine}, std::pair{"driver", &Night::driver},
    std::pair{"cuda", &Night::cuda},       std::pair{"cublas", &Night::cublas},
    std::pair{"program", &Night::program}, std::pair{"suite", &Night::suite},
    std::pair{"method", &Night::method},   std::pair{"replayed", &Night::replayed}};

inline constexpr std::array kFigures{
    std::pair{"log_equal_clock", &NightBenchmark::log_equal_clock},
    std::pair{"process_variance", &NightBenchmark::process_variance},
    std::pair{"ns", &NightBenchmark::ns},
    std::pair{"cycles", &NightBenchmark::cycles},
    std::pair{"energy_j", &NightBenchmark::energy_j},
    std::pair{"host_ns", &NightBenchmark::host_ns}};

}  // namespace fusegate::baselines
