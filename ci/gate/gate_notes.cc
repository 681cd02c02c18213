#include "ci/gate/gate_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <ranges>
#include <string_view>
#include <utility>

#include "baselines/comparing/comparison.h"
#include "baselines/gating/families.h"
#include "baselines/io/instant.h"
#include "baselines/io/message_names.h"
#include "ci/console/format.h"
#include "ci/gate/gate_headline.h"
#include "ci/gate/verdict_text.h"

namespace fusegate::ci {
namespace {

using baselines::EnvironmentDifference;
using baselines::HostChange;
using baselines::HostObstacle;
using baselines::HostVerdict;
using baselines::kFewestProcesses;
using baselines::Run;
using baselines::Verdict;
using baselines::VerdictKind;

std::vector<double> effects_of_identical_code(const std::vector<Verdict>& verdicts) {
  std::vector<double> effects;
  for (const Verdict& verdict : verdicts) {
    const double effect = verdict.estimates.effect;
    if (verdict.kind == VerdictKind::kIdentical && std::isfinite(effect)) effects.push_back(effect);
  }
  return effects;
}

// Whether what identical code shows of the machine was taken out of what was judged.
bool machine_is_known(const std::vector<Verdict>& verdicts) {
  return std::ranges::any_of(
      verdicts, [](const Verdict& verdict) { return std::isfinite(verdict.estimates.machine); });
}

bool has_identities(const Run& run) {
  return std::ranges::any_of(run.benchmarks,
                             [](const auto& series) { return series.identity.has_value(); });
}

// A protocol that names another tool is of runs that this program did not measure.
bool is_measured_by_us(const Run& run) {
  return !run.provenance.suite.empty() && !run.provenance.protocol.contains("tool");
}

// "Re-record it: fusegate run --suite pr ... && fusegate accept RUN --reason TEXT". All is
// measured: what is left out as identical would be missing in the new baseline.
std::string renewal_text(const Run& baseline) {
  const bool several = baselines::cards_of(baseline).size() > 1;
  if (!is_measured_by_us(baseline)) {
    return fmt::format("Re-record it with {} processes{}: fusegate accept RUN --reason TEXT",
                       kFewestProcesses, several ? " on each card" : "");
  }
  return fmt::format(
      "Re-record it{}: fusegate run --suite {} --processes {} --all --out RUN && fusegate accept "
      "RUN --reason TEXT",
      several ? ", a RUN on each card" : "", baseline.provenance.suite, kFewestProcesses);
}

// of: which processes; on: which cards' regressions.
std::string few_processes(const Run& baseline, int processes, std::string_view of,
                          std::string_view on = "") {
  if (processes == 0 || processes >= kFewestProcesses) return "";
  return fmt::format("The baseline has {}{}; at least {} are needed to report a regression{}. {}",
                     format_count(static_cast<std::size_t>(processes), "process"), of,
                     kFewestProcesses, on, renewal_text(baseline));
}

// The notes of a gate, a function each, in their order.
class Notes {
 public:
  explicit Notes(const GateFacts& facts)
      : facts_(facts),
        baseline_(facts.baseline->run),
        candidate_(facts.candidate),
        result_(facts.result) {}

  std::vector<std::string> all() && {
    add_warnings(baseline_.warnings, "Baseline");
    add_warnings(candidate_.warnings, "Candidate");
    add_outliers(result_.outliers_in_baseline, "Baseline");
    add_outliers(result_.outliers_in_candidate, "Candidate");
    add_suites();
    add_limits();
    add_hosts();
    add_contexts();
    add_cards();
    add_missing_identities();
    add_machine();
    add_cause_on_cpu();
    add_host_times();
    add_partial();
    add(unfinished_texts(baseline_));
    add(unfinished_texts(candidate_));
    add(unmeasured_text(candidate_));
    add_unjudged(&Run::skipped, baselines::skipped_text);
    add_unjudged(&Run::left_out, baselines::left_out_text);
    add_few_processes();
    if (result_.staleness) add(staleness_notes(*result_.staleness));
    add_ungated();
    add_creep();
    add_accepted();
    add(facts_.notes);
    return std::move(notes_);
  }

 private:
  void add(std::string note) {
    if (!note.empty()) notes_.push_back(std::move(note));
  }
  void add(const std::vector<std::string>& more) {
    notes_.insert(notes_.end(), more.begin(), more.end());
  }

  void add_warnings(const std::vector<baselines::Warning>& warnings, std::string_view side) {
    for (const baselines::Warning warning : warnings) {
      add(fmt::format("{}: {}", side, warning_sentence(warning)));
    }
  }

  void add_outliers(const std::vector<baselines::Outlier>& outliers, std::string_view side) {
    for (const baselines::Outlier& one : outliers) {
      add(fmt::format("{}: {}; {}.", side, outlier_text(one),
                      one.is_set_aside
                          ? "it is left out"
                          : fmt::format("it counts, as none of fewer than {} is left out",
                                        baselines::kFewestToSetAside)));
    }
  }

  void add_suites() {
    const std::string &before = baseline_.provenance.suite, &after = candidate_.provenance.suite;
    if (before == after) return;
    add(fmt::format("The baseline is of suite \"{}\", the candidate of \"{}\".", before, after));
  }

  // By what changed, the benchmarks.
  void add_limits() {
    std::map<std::string, std::vector<std::string>> changed;
    const baselines::GateOptions& options = facts_.options;
    for (const Verdict& verdict : result_.verdicts) {
      Verdict before = verdict;
      before.settings = settings_of(options.former_settings, verdict.benchmark);
      const auto compare = [&](std::string_view key, double former, double now) {
        if (former == now) return;
        changed[fmt::format("{} from {} to {}", key, format_fraction(former), format_fraction(now))]
            .push_back(verdict.benchmark);
      };
      compare("min_effect", limits_of(options.rule, before.settings).min_effect,
              limits_of(options.rule, verdict.settings).min_effect);
      compare("allow", allowed(before, options.allow), allowed(verdict, options.allow));
    }
    for (const auto& [what, names] : changed) {
      add(fmt::format("The candidate's suite changes {} for {}: {}. Its limits count.", what,
                      format_count(names.size(), "benchmark"), baselines::first_of(names)));
    }
  }

  // Where no card says what was measured on, another host may be another machine.
  void add_hosts() {
    const auto &before = baseline_.provenance, &after = candidate_.provenance;
    const bool on_cards = !before.device_uuid.empty() || !after.device_uuid.empty();
    const bool are_known = !before.host.empty() && !after.host.empty();
    if (on_cards || !are_known || before.host == after.host) return;
    add(
        fmt::format("The baseline was measured on host {}, the candidate on {}: differences may "
                    "come from the machine. Measure both on one host.",
                    before.host, after.host));
  }

  // Baselines from before contexts were stored have none.
  void add_contexts() {
    const baselines::Environment& before = baseline_.provenance.context;
    if (facts_.baseline->acceptance && before.empty()) return;
    const auto texts =
        difference_texts(baselines::environment_differences(before, candidate_.provenance.context));
    if (texts.empty()) return;
    add(
        fmt::format("The program's own context differs in {}. Such keys do not stop a comparison; "
                    "those of the environment do (docs/files.md).",
                    baselines::first_of(texts)));
  }

  // From which cards the verdicts know how far cards differ.
  void add_cards() {
    if (!baselines::circumstances_of(baseline_, candidate_).other_card) return;
    add("The candidate was measured on a card that the baseline was not. " + cards_text());
  }

  std::string cards_text() const {
    const baselines::CardDifferences& known = facts_.options.rule.cards;
    const std::size_t of_baseline = baselines::cards_of(baseline_).size();
    const std::size_t of_candidate = baselines::cards_of(candidate_).size();
    const std::size_t most = std::max(of_baseline, of_candidate);
    if (machine_is_known(result_.verdicts)) {
      return "The difference between cards is estimated from kernels with identical code.";
    }
    if (most > 1) {
      return fmt::format("Card-to-card variation is estimated from the {}'s {} cards.",
                         most == of_baseline ? "baseline" : "candidate", most);
    }
    if (!known.calibration.empty()) {
      return fmt::format("Intervals are widened by the card-to-card variation of {} cards ({}).",
                         known.cards, known.calibration);
    }
    return fmt::format(
        "No card-to-card calibration exists for this device; a conservative {} is assumed, which "
        "widens all intervals. Record a baseline on several cards, or run `fusegate calibrate`.",
        format_magnitude(baselines::kAssumedCardSpread));
  }

  // Where only one side has identities, no code is known to be identical.
  void add_missing_identities() {
    const bool in_baseline = has_identities(baseline_);
    if (in_baseline == has_identities(candidate_)) return;
    add(in_baseline
            ? "The candidate has no code hashes, so identical kernels cannot be recognised. "
              "Measure it with a program of this version."
            : "The baseline has no code hashes, so identical kernels cannot be recognised. "
              "Re-record the baseline to add them.");
  }

  void add_machine() {
    const std::vector<double> effects = effects_of_identical_code(result_.verdicts);
    if (effects.empty()) return;
    const auto [least, most] = std::ranges::minmax(effects);
    const bool one = effects.size() == 1;
    add(fmt::format(
        "{} ran identical code; {} by {} to {} (median {}), which is machine noise.{}",
        format_count(effects.size(), "benchmark"), one ? "its times differ" : "their times differ",
        format_effect(least), format_effect(most), format_effect(baselines::median(effects)),
        machine_is_known(result_.verdicts) ? " The other effects are corrected for it." : ""));
  }

  // On a GPU the profile explains it, or a note says that a side has none; on a CPU there is none.
  void add_cause_on_cpu() {
    const auto changed = std::ranges::find_if(result_.verdicts, [](const Verdict& verdict) {
      return verdict.kind == VerdictKind::kRegression || verdict.kind == VerdictKind::kImprovement;
    });
    const bool is_on_cpu = candidate_.environment.contains(baselines::kCpuCycles);
    if (changed == result_.verdicts.end() || !is_on_cpu) return;
    add(
        fmt::format("The cause is not known: kernels are profiled on a GPU only. Compare "
                    "instructions and cache misses of both programs: `perf stat -d PROGRAM "
                    "--benchmark_filter='{}'`.",
                    changed->benchmark));
  }

  void add_host_times() {
    std::map<std::pair<HostVerdict, HostObstacle>, std::vector<const HostChange*>> alike;
    for (const HostChange& change : result_.host.changes) {
      alike[{change.verdict, change.obstacle}].push_back(&change);
    }
    for (const auto& [kind, changes] : alike) {
      std::vector<std::string> texts;
      for (const HostChange* change : changes) texts.push_back(host_change_text(*change));
      const std::string why = host_obstacle_text(kind.second);
      add(fmt::format("Host time: {}: {}.{}", host_count_text(changes),
                      baselines::first_of(texts, "; "),
                      why.empty() ? "" : fmt::format(" It is not reported as slower: {}.", why)));
    }
    if (facts_.options.fail_on_host && result_.host.other_host) {
      add("Host time: the sides were measured on two hosts, so it fails nothing. Run `fusegate "
          "replay`, which measures both on one.");
    }
  }

  // On a GPU, where the kernels that a process has loaded before may decide where the next one's
  // code lies (docs/how-it-measures.md, "What is left"). Identical code shows how much that is: it
  // was co-measured with the same benchmarks.
  void add_partial() {
    const auto& verdicts = result_.verdicts;
    const std::size_t alone =
        count_of(verdicts, VerdictKind::kMissing) + count_of(verdicts, VerdictKind::kNew);
    const bool on_gpu =
        !baseline_.provenance.device_uuid.empty() && !candidate_.provenance.device_uuid.empty();
    if (alone == 0 || alone == verdicts.size() || !on_gpu) return;
    add(fmt::format(
        "{} {} in only one of the runs, and co-measured benchmarks can change the time of the same "
        "code. {}",
        format_count(alone, "benchmark"), alone == 1 ? "is" : "are",
        effects_of_identical_code(verdicts).empty()
            ? "How much is not known; `fusegate replay` measures both programs with the same "
              "benchmarks."
            : "Unchanged kernels show how large this effect is."));
  }

  // The baseline's where they are others.
  void add_unjudged(std::map<std::string, std::string> Run::*benchmarks,
                    std::string (*text)(const Run&)) {
    const auto &before = baseline_.*benchmarks, &after = candidate_.*benchmarks;
    if (!after.empty()) add("Candidate: " + text(candidate_));
    if (!before.empty() && before != after) add("Baseline: " + text(baseline_));
  }

  // A replay measures as many as it needs.
  void add_few_processes() {
    if (!facts_.baseline->acceptance || facts_.replay) return;
    add(few_processes_text(baseline_, result_.verdicts));
  }

  // The gate would let it pass whatever it takes.
  void add_ungated() {
    if (!result_.staleness || result_.staleness->not_in_baseline.empty()) return;
    const bool one = result_.staleness->not_in_baseline.size() == 1;
    add(fmt::format("The new {} not gated until the baseline has {}. {}",
                    one ? "benchmark is" : "benchmarks are", one ? "it" : "them",
                    renewal_text(baseline_)));
  }

  void add_creep() {
    if (!result_.creep) return;
    const baselines::Creep& creep = *result_.creep;
    const std::string since = date_of(creep.since);
    if (!creep.differences.empty()) {
      add(
          fmt::format("The candidate cannot be compared with the anchor of {}: {}. Replace the "
                      "anchor with: fusegate accept RUN --anchor.",
                      since, creep_not_judged(creep)));
    } else if (!creep.slower.empty()) {
      add(fmt::format("Since the anchor of {}{}: {}.", since,
                      creep.other_card ? ", on another card" : "", crept_text(creep.slower)));
    }
  }

  void add_accepted() {
    for (const Verdict& verdict : result_.verdicts) {
      if (verdict.kind != VerdictKind::kRegression || !verdict.accepted || verdict.is_accepted()) {
        continue;
      }
      add(fmt::format("{} is {} slower: {}.", verdict.benchmark,
                      format_magnitude(verdict.estimates.effect), accepted_text(verdict)));
    }
    for (const baselines::AcceptedSlowdown& entry : result_.accepted.expired) {
      add(
          fmt::format("The slowdown \"{}\" was accepted until {}, which has passed: {}. Remove or "
                      "renew the entry.",
                      entry.pattern, entry.until, entry.reason));
    }
    for (const baselines::AcceptedSlowdown& entry : result_.accepted.outlived) {
      add(fmt::format(
          "The slowdown \"{}\" was accepted from {} on, and nothing is as slow any more: "
          "the entry can go.",
          entry.pattern, format_fraction(entry.effect.low)));
    }
  }

  // A family in place of its benchmarks.
  static std::string crept_text(const std::vector<Verdict>& slower) {
    std::vector<std::string> texts;
    for (const baselines::Family& family : baselines::families_of(slower)) {
      const auto of_family = [&](const Verdict& verdict) {
        return baselines::family_of(verdict.benchmark) == family.name;
      };
      texts.push_back(fmt::format("{} {} slower",
                                  family.rows > 1
                                      ? fmt::format("{} of {}", family.rows, family.name)
                                      : std::ranges::find_if(slower, of_family)->benchmark,
                                  format_share(family.mean_effect)));
    }
    return baselines::first_of(texts, "; ");
  }

  const GateFacts& facts_;
  const Run& baseline_;
  const Run& candidate_;
  const baselines::GateResult& result_;
  std::vector<std::string> notes_;
};

void add_missing(const std::vector<std::string>& names, std::string_view where,
                 std::vector<std::string>& notes) {
  if (names.empty()) return;
  notes.push_back(fmt::format("{} {} not in the {}: {}.", format_count(names.size(), "benchmark"),
                              names.size() == 1 ? "is" : "are", where, baselines::first_of(names)));
}

}  // namespace

std::vector<std::string> gate_notes(const GateFacts& facts) { return Notes(facts).all(); }

std::vector<std::string> staleness_notes(const baselines::Staleness& staleness) {
  std::vector<std::string> notes;
  if (!baselines::parse_instant(staleness.accepted)) {
    notes.push_back(fmt::format(
        "The baseline's age is not known: its \"when\" is \"{}\"; expected a date such as "
        "2026-11-21T02:53:32+00:00.",
        staleness.accepted));
  }
  if (staleness.too_old) {
    notes.push_back(fmt::format(
        "The baseline is stale: it was accepted {:.0f} days before the candidate was measured; the "
        "limit is {:g}. Re-record it.",
        *staleness.age_days, staleness.max_age_days));
  }
  std::vector<std::string> before, after;
  for (const EnvironmentDifference& library : staleness.libraries) {
    before.push_back(library.field + ' ' + library.baseline);
    after.push_back(library.field + ' ' + library.candidate);
  }
  if (!before.empty()) {
    notes.push_back(fmt::format("The baseline was measured with {}, the candidate with {}.",
                                fmt::join(before, ", "), fmt::join(after, ", ")));
  }
  add_missing(staleness.not_in_baseline, "baseline", notes);
  add_missing(staleness.not_in_candidate, "candidate", notes);
  return notes;
}

std::string creep_not_judged(const baselines::Creep& creep) {
  if (creep.differences.empty()) return "";
  const EnvironmentDifference& first = creep.differences.front();
  std::string text =
      fmt::format("{} is {} there and {} here", first.field, first.baseline, first.candidate);
  if (creep.differences.size() == 1) return text;
  return text + fmt::format(", and {} more differ", creep.differences.size() - 1);
}

std::string few_processes_text(const Run& baseline) {
  const std::map<int, int> by_card = baselines::processes_by_card(baseline);
  if (by_card.empty()) return "";
  const auto counts = std::views::values(by_card);
  // Another card's are compared with all of them, its own with those of the card.
  const bool are_enough_for_others =
      std::accumulate(counts.begin(), counts.end(), 0) >= kFewestProcesses;
  return few_processes(baseline, std::ranges::min(counts), " on each card",
                       are_enough_for_others ? " on one of these" : "");
}

std::string few_processes_text(const Run& baseline, const std::vector<Verdict>& verdicts) {
  int compared = 0;
  for (const Verdict& verdict : verdicts) compared = std::max(compared, verdict.baseline.compared);
  if (compared == 0) return few_processes_text(baseline);
  // Of several cards either those of one or all are compared.
  return few_processes(baseline, compared,
                       baselines::cards_of(baseline).size() > 1 ? " to compare with" : "");
}

}  // namespace fusegate::ci
