# shellcheck shell=bash
# The last step of a job: gate, report, and the job's exit code. Source it after environment.sh.

new_job() {
  local started
  started=$(date -u +%Y%m%dT%H%M%SZ)
  # Below the checkout, in which the scripts run: what is printed of them is then the same everywhere.
  RUNS=.fusegate/runs/$started
  REPORTS=.fusegate/reports/$started
  mkdir -p "$RUNS" "$REPORTS"
  ln -sfn "$started" .fusegate/reports/latest
  RUN_FAILED=no
}

# What was measured is still judged, so that the report names what failed; but it never passes.
run_failed() {
  RUN_FAILED=yes
  warn "not every process ended well; judging what was measured, in $RUNS"
}

# gate_and_report FUSEGATE --candidate PATH: ends the script with the gate's code.
gate_and_report() {
  local fusegate=$1 verdict=0
  shift
  step "gate"
  "$fusegate" gate "$@" --json "$REPORTS/gate.json" --markdown "$REPORTS/gate.md" || verdict=$?
  # The verdict stands whether or not a page can be drawn of it.
  "$fusegate" report "$@" --html "$REPORTS/report.html" ||
    warn "no HTML report was written; the verdict above stands"
  end_job "$verdict"
}

# end_job VERDICT: says where things lie, and ends the script. 1 means a regression; whatever else
# stopped the gate (a signal, say) judged nothing.
end_job() {
  local verdict=$1
  step "runs in $RUNS, report in $REPORTS"
  if ((verdict > 1)) || [[ $verdict == 0 && $RUN_FAILED == yes ]]; then verdict=2; fi
  exit "$verdict"
}
