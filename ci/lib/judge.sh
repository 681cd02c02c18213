# shellcheck shell=bash
# The last step of a job: gate, report, and the job's exit code. Source it after environment.sh.

new_job() {
  local started
  started=$(date -u +%Y%m%dT%H%M%SZ)
  RUNS=$FUSEGATE_ROOT/.fusegate/runs/$started
  REPORTS=$FUSEGATE_ROOT/.fusegate/reports/$started
  mkdir -p "$RUNS" "$REPORTS"
  ln -sfn "$started" "$FUSEGATE_ROOT/.fusegate/reports/latest"
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
  step "runs in ${RUNS#"$FUSEGATE_ROOT/"}, report in ${REPORTS#"$FUSEGATE_ROOT/"}"
  if ((verdict > 1)) || [[ $verdict == 0 && $RUN_FAILED == yes ]]; then verdict=2; fi
  exit "$verdict"
}
