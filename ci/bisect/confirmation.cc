#include "ci/bisect/confirmation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "baselines/history/change_id.h"
#include "baselines/io/error.h"
#include "ci/console/format.h"
#include "ci/console/layout.h"
#include "ci/processes/cards.h"
#include "ci/processes/child_process.h"

namespace fusegate::ci {
namespace {

using baselines::ChangeClass;
using baselines::ChangePoint;
using baselines::Confirmation;
using baselines::History;
using baselines::InputError;
using baselines::Night;
using baselines::StoredChangePoint;
using baselines::VerdictKind;

bool is_open(const ChangePoint& point) {
  const bool may_be_code =
      point.of_class == ChangeClass::kCode || point.of_class == ChangeClass::kUnexplained;
  const bool is_decided = point.confirmation && *point.confirmation != Confirmation::kAsked;
  return may_be_code && !is_decided && !point.is_true;
}

std::vector<StoredChangePoint> chosen(const ConfirmationRequest& request, const History& history) {
  std::vector<StoredChangePoint> all = history.change_points(), found;
  for (const std::string& id : request.ids) {
    const auto own = std::ranges::find(
        all, id, [](const StoredChangePoint& stored) { return change_id(stored.point); });
    if (own == all.end()) {
      throw InputError(request.database.string(), "",
                       fmt::format("has no change {}; alerts and the page have the ids", id));
    }
    found.push_back(*own);
  }
  if (!request.ids.empty()) return found;
  std::ranges::reverse(all);
  for (StoredChangePoint& stored : all) {
    if (is_open(stored.point) && found.size() < request.most) found.push_back(std::move(stored));
  }
  return found;
}

// The nights on both sides of a change.
struct Around {
  Night before{};
  Night after{};
};

Around around(const ChangePoint& point, const std::vector<Night>& nights) {
  Around found;
  for (const Night& night : nights) {
    if (night.session == point.last_session_before) found.before = night;
    if (night.session == point.first_session) found.after = night;
  }
  return found;
}

// How far a benchmark's time at equal clock moved between the two nights; 0 where unknown.
double movement(const std::string& benchmark, const ChangePoint& point, const History& history) {
  double before = baselines::kUnknown, after = baselines::kUnknown;
  for (const baselines::HistoryPoint& at : history.series(benchmark)) {
    if (at.night.session == point.last_session_before) before = at.benchmark.log_equal_clock;
    if (at.night.session == point.first_session) after = at.benchmark.log_equal_clock;
  }
  const double moved = after - before;
  return std::isfinite(moved) ? moved : 0;
}

std::string moved_most(const ChangePoint& point, const History& history) {
  if (point.benchmarks.empty()) return point.subject;
  const double sign = point.effect < 0 ? -1 : 1;
  return std::ranges::max(point.benchmarks, {}, [&](const std::string& benchmark) {
    return sign * movement(benchmark, point, history);
  });
}

// Why the commits cannot be measured; "" where they can.
std::string problem_of(const Around& nights) {
  if (nights.before.commit.empty() || nights.after.commit.empty()) {
    return "one of the nights around it names no commit";
  }
  if (nights.before.commit == nights.after.commit) {
    return "the nights around it are of the same commit";
  }
  return "";
}

Confirmation confirmation_by(const baselines::Verdict& verdict, double effect) {
  const bool is_certain =
      verdict.kind == VerdictKind::kUnchanged || verdict.kind == VerdictKind::kIdentical;
  if (is_certain) return Confirmation::kRefuted;
  if (verdict.kind != VerdictKind::kRegression && verdict.kind != VerdictKind::kImprovement) {
    return Confirmation::kAsked;
  }
  return (verdict.estimates.effect > 0) == (effect > 0) ? Confirmation::kConfirmed
                                                        : Confirmation::kRefuted;
}

std::string verdict_text(const baselines::Verdict& verdict) {
  return verdict.kind == VerdictKind::kIdentical
             ? "identical code"
             : fmt::format("{}, {} {}", baselines::verdict_name(verdict.kind),
                           format_effect(verdict.estimates.effect),
                           format_interval(verdict.estimates.interval));
}

std::set<std::string> lines_of(const std::vector<std::string>& command) {
  std::set<std::string> lines;
  std::istringstream text(output_of(command));
  for (std::string line; std::getline(text, line);) lines.insert(line);
  return lines;
}

std::string card_without_work(const std::string& other_than) {
  const auto busy =
      lines_of({"nvidia-smi", "--query-compute-apps=gpu_uuid", "--format=csv,noheader"});
  for (const std::string& card :
       lines_of({"nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"})) {
    if (card != other_than && !busy.contains(card)) return card;
  }
  return "";
}

class Confirming {
 public:
  Confirming(const ConfirmationRequest& request, const ConfirmationTools& tools, Console& console)
      : request_(request),
        tools_(tools),
        console_(console),
        history_(request.database, baselines::DatabaseUse::kWrite),
        nights_(history_.nights()) {}

  ConfirmationResult run() {
    const auto changes = chosen(request_, history_);
    if (changes.empty()) console_.out.print("no change waits for a confirmation\n");
    for (const StoredChangePoint& change : changes) {
      const auto confirmation = look_at(change);
      if (result_.interrupted) break;
      history_.set_confirmation(change.id, confirmation);
      ++(confirmation == Confirmation::kAsked ? result_.undecided : result_.decided);
    }
    return result_;
  }

 private:
  Confirmation look_at(const StoredChangePoint& change) try {
    const Around nights = around(change.point, nights_);
    const std::string id = change_id(change.point), problem = problem_of(nights);
    if (!problem.empty()) {
      console_.out.print("{} {}: not confirmed, as {}\n", id, change.point.subject, problem);
      return Confirmation::kAsked;
    }
    history_.set_confirmation(change.id, Confirmation::kAsked);
    CommitDuetRequest duet{.build = request_.build,
                           .good = nights.before.commit,
                           .bad = nights.after.commit,
                           .measuring = request_.measuring,
                           // Not among runs, of which each is a night to `history add`.
                           .folder = new_run_folder("confirmations")};
    duet.measuring.benchmark = moved_most(change.point, history_);
    const std::string card = other_card(nights.after);
    if (!card.empty()) duet.measuring.environment[kVisibleCards] = card;
    const CommitDuet measured = tools_.duet(duet);
    result_.interrupted = measured.interrupted;
    if (measured.interrupted) return Confirmation::kAsked;
    const Confirmation found = confirmation_by(measured.verdict, change.point.effect);
    console_.out.print("{} {}: {}, by {} on {}: {}\n", id, change.point.subject,
                       found == Confirmation::kAsked ? "not confirmed" : confirmation_name(found),
                       duet.measuring.benchmark,
                       card.empty() ? "the card that there is" : "another card, " + card,
                       verdict_text(measured.verdict));
    return found;
  } catch (const InputError& error) {
    console_.out.print("{} {}: not confirmed: {}\n", change_id(change.point), change.point.subject,
                       error.what());
    return Confirmation::kAsked;
  }

  // "" where somebody chose cards already.
  std::string other_card(const Night& night) const {
    return std::getenv(kVisibleCards) != nullptr ? "" : tools_.free_card(night.card);
  }

  const ConfirmationRequest& request_;
  const ConfirmationTools& tools_;
  Console& console_;
  History history_;
  std::vector<Night> nights_;
  ConfirmationResult result_;
};

}  // namespace

ConfirmationTools confirmation_tools(Console& console) {
  return {
      .duet = [&console](
                  const CommitDuetRequest& request) { return duet_of_commits(request, console); },
      .free_card = card_without_work};
}

ConfirmationResult confirm_changes(const ConfirmationRequest& request,
                                   const ConfirmationTools& tools, Console& console) {
  if (!std::filesystem::exists(request.database)) {
    throw InputError(request.database.string(), "", "does not exist; name the history with --db");
  }
  return Confirming(request, tools, console).run();
}

}  // namespace fusegate::ci
