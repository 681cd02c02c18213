#include "baselines/calibration/draws.h"

#include <algorithm>
#include <boost/math/special_functions/binomial.hpp>
#include <map>
#include <numeric>
#include <utility>

#include "baselines/comparing/rule.h"

namespace fusegate::baselines {
namespace {

// The gate calls nothing of fewer that fresh ones do not confirm.
constexpr std::size_t kSmallestSide = kFewestProcesses;

struct SideSizes {
  std::size_t baseline = 0;
  std::size_t candidate = 0;
};

SideSizes side_sizes(std::size_t invocations, int side) {
  const auto wanted = static_cast<std::size_t>(side);
  return {std::min(wanted, invocations - invocations / 2), std::min(wanted, invocations / 2)};
}

std::vector<std::size_t> shuffled(std::size_t count, std::mt19937_64& random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, random);
  return order;
}

std::vector<std::size_t> cards_with(const CalibrationPool& pool, std::size_t invocations) {
  std::vector<std::size_t> cards;
  for (std::size_t i = 0; i < pool.cards.size(); ++i) {
    if (pool.cards[i].invocations() >= invocations) cards.push_back(i);
  }
  return cards;
}

// The cards that draw_same_card() takes.
std::vector<std::size_t> cards_for_both_sides(const CalibrationPool& pool, int side) {
  const auto full = cards_with(pool, 2 * static_cast<std::size_t>(side));
  return full.empty() ? cards_with(pool, 2 * kSmallestSide) : full;
}

template <typename T>
const T& one_of(const std::vector<T>& values, std::mt19937_64& random) {
  return values[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random)];
}

// The blocks of a session on one card that have two invocations.
struct Session {
  std::string name;
  std::size_t card = 0;
  std::vector<std::vector<std::size_t>> blocks;  // of invocations
};

std::vector<Session> sessions_of(const CalibrationPool& pool) {
  std::vector<Session> sessions;
  for (std::size_t card = 0; card < pool.cards.size(); ++card) {
    std::map<std::string, std::map<int, std::vector<std::size_t>>> blocks;
    for (std::size_t i = 0; i < pool.cards[card].invocations(); ++i) {
      const std::string& session = pool.sessions[pool.cards[card].run_of_invocation[i]];
      // One process's summaries share their block.
      const int block = pool.cards[card].run.benchmarks.front().invocations[i].block;
      if (!session.empty() && block > 0) blocks[session][block].push_back(i);
    }
    for (auto& [name, by_number] : blocks) {
      Session session{name, card, {}};
      for (auto& [number, invocations] : by_number) {
        if (invocations.size() >= 2) session.blocks.push_back(std::move(invocations));
      }
      sessions.push_back(std::move(session));
    }
  }
  return sessions;
}

std::vector<Session> sessions_for_sides(const CalibrationPool& pool, int side) {
  const auto with_blocks = [&pool](std::size_t least) {
    std::vector<Session> sessions = sessions_of(pool);
    std::erase_if(sessions, [least](const Session& own) { return own.blocks.size() < least; });
    return sessions;
  };
  auto full = with_blocks(static_cast<std::size_t>(side));
  return full.empty() ? with_blocks(kSmallestSide) : full;
}

}  // namespace

std::optional<Draw> draw_same_card(const CalibrationPool& pool, int side, std::mt19937_64& random) {
  const auto cards = cards_for_both_sides(pool, side);
  if (cards.empty()) return std::nullopt;
  Draw draw;
  draw.baseline_card = draw.candidate_card = one_of(cards, random);
  const std::size_t invocations = pool.cards[draw.baseline_card].invocations();
  const SideSizes sizes = side_sizes(invocations, side);
  const auto order = shuffled(invocations, random);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(sizes.baseline);
  draw.baseline.assign(order.begin(), middle);
  draw.candidate.assign(middle, middle + static_cast<std::ptrdiff_t>(sizes.candidate));
  return draw;
}

std::optional<Draw> draw_side_by_side(const CalibrationPool& pool, int side,
                                      std::mt19937_64& random) {
  const std::vector<Session> sessions = sessions_for_sides(pool, side);
  if (sessions.empty()) return std::nullopt;
  const Session& session = one_of(sessions, random);
  Draw draw;
  draw.baseline_card = draw.candidate_card = session.card;
  draw.baseline_session = draw.candidate_session = session.name;
  auto blocks = shuffled(session.blocks.size(), random);
  blocks.resize(std::min(blocks.size(), static_cast<std::size_t>(side)));
  for (const std::size_t block : blocks) {
    auto invocations = session.blocks[block];
    std::ranges::shuffle(invocations, random);
    draw.baseline.push_back(invocations[0]);
    draw.candidate.push_back(invocations[1]);
  }
  return draw;
}

std::optional<Draw> draw_other_card(const CalibrationPool& pool, int side,
                                    std::mt19937_64& random) {
  auto cards = cards_with(pool, kSmallestSide);
  if (cards.size() < 2) return std::nullopt;
  std::ranges::shuffle(cards, random);
  const auto side_of = [&](std::size_t card) {
    auto order = shuffled(pool.cards[card].invocations(), random);
    order.resize(std::min(order.size(), static_cast<std::size_t>(side)));
    return order;
  };
  Draw draw;
  draw.baseline_card = cards[0];
  draw.candidate_card = cards[1];
  draw.baseline = side_of(cards[0]);
  draw.candidate = side_of(cards[1]);
  return draw;
}

std::vector<Draw> whole_runs(const CalibrationPool& pool) {
  struct WholeRun {
    std::size_t card = 0;
    std::string session{};
    std::vector<std::size_t> invocations{};
  };
  std::vector<WholeRun> runs(pool.runs.size());
  for (std::size_t card = 0; card < pool.cards.size(); ++card) {
    for (std::size_t i = 0; i < pool.cards[card].invocations(); ++i) {
      WholeRun& run = runs[pool.cards[card].run_of_invocation[i]];
      run.card = card;
      run.session = pool.sessions[pool.cards[card].run_of_invocation[i]];
      run.invocations.push_back(i);
    }
  }
  std::erase_if(runs, [](const WholeRun& run) { return run.invocations.size() < kSmallestSide; });
  std::vector<Draw> draws;
  for (const WholeRun& baseline : runs) {
    for (const WholeRun& candidate : runs) {
      if (&baseline == &candidate) continue;
      draws.push_back({baseline.card, candidate.card, baseline.invocations, candidate.invocations,
                       baseline.session, candidate.session});
    }
  }
  return draws;
}

double possible_draws(const CalibrationPool& pool, int side) {
  const auto choose = [](std::size_t n, std::size_t k) {
    return boost::math::binomial_coefficient<double>(static_cast<unsigned>(n),
                                                     static_cast<unsigned>(k));
  };
  double sum = 0;
  for (const std::size_t card : cards_for_both_sides(pool, side)) {
    const std::size_t invocations = pool.cards[card].invocations();
    const SideSizes sizes = side_sizes(invocations, side);
    sum +=
        choose(invocations, sizes.baseline) * choose(invocations - sizes.baseline, sizes.candidate);
  }
  return sum;
}

double possible_side_by_side(const CalibrationPool& pool, int side) {
  double sum = 0;
  for (const Session& session : sessions_for_sides(pool, side)) {
    const std::size_t drawn = std::min(session.blocks.size(), static_cast<std::size_t>(side));
    // ways[k]: to draw from k of the blocks so far, each with its ordered pairs of invocations.
    std::vector<double> ways(drawn + 1);
    ways[0] = 1;
    for (const auto& block : session.blocks) {
      const auto size = static_cast<double>(block.size());
      for (std::size_t k = drawn; k > 0; --k) ways[k] += ways[k - 1] * size * (size - 1);
    }
    sum += ways[drawn];
  }
  return sum;
}

}  // namespace fusegate::baselines
