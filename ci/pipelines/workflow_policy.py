"""What our GitHub workflows may not do, so that a fork's pull request gets no secret and no write token.

Code of a pull request runs in every job of a workflow that `pull_request` or a review of one starts: the tree that
is checked out is the pull request's. Such a job may read the repository and nothing else. A workflow that may write
(`workflow_run`) runs none of that code: it checks out the default branch alone.

These are the rules that zizmor does not have (workflows_test.py runs it beside them). It finds
pull_request_target, tokens that may do more than read, expressions that are pasted into scripts, and actions that are
not pinned. The rules and the attacks behind them: GitHub's "Security hardening for GitHub Actions" and "Keeping your
GitHub Actions and workflows secure: preventing pwn requests".
"""

import re

READ_ONLY = {"read", "none"}
OF_PULL_REQUESTS = {"pull_request", "pull_request_review"}
# A person's word for a commit: one of us, about the very commit that is measured.
REVIEWED = ["github.event.review.commit_id == github.event.pull_request.head.sha", "github.event.review.author_association"]
CHECKOUT_OF_ANOTHER_TREE = {"ref", "repository"}


def violations(workflow, text):
    """One line for each rule that the workflow breaks. `text` is the file that `workflow` was parsed from."""
    return [line for rule in RULES for line in rule(workflow, text)]


def triggers(workflow):
    on = workflow.get("on", {})
    return {on} if isinstance(on, str) else set(on)


def jobs(workflow):
    return workflow.get("jobs", {}).items()


def steps(workflow):
    for name, job in jobs(workflow):
        for step in job.get("steps", []):
            yield name, step


def checkouts(workflow):
    for name, step in steps(workflow):
        if step.get("uses", "").startswith("actions/checkout@"):
            yield name, step.get("with", {})


def writes(permissions):
    return permissions == "write-all" or (
        isinstance(permissions, dict) and bool(set(permissions.values()) - READ_ONLY))


def writes_only_beside_the_code(workflow, _):
    for name, job in jobs(workflow):
        if writes(job.get("permissions")) and triggers(workflow) != {"workflow_run"}:
            yield f"job {name} may write but is not started by workflow_run alone"


def no_secrets(_, text):
    """Not one of our jobs needs any; github.token is enough, and where it can write no foreign code runs."""
    if re.search(r"\bsecrets\s*[.\[:)]", text):
        yield "names secrets"


def no_token_beside_foreign_code(workflow, text):
    if triggers(workflow) & OF_PULL_REQUESTS and re.search(r"\bgithub\s*\.\s*token\b", text):
        yield "hands github.token to a job that runs a pull request's code"


def no_credentials_left_in_the_tree(workflow, _):
    """Checkout writes its token into the work tree's git configuration unless it is told not to."""
    for name, options in checkouts(workflow):
        if options.get("persist-credentials") is not False:
            yield f"job {name} checks out without persist-credentials: false"


def default_branch_only_where_it_writes(workflow, _):
    if "workflow_run" in triggers(workflow):
        for name, options in checkouts(workflow):
            if CHECKOUT_OF_ANOTHER_TREE & set(options):
                yield f"job {name} checks out another tree than the default branch"


def actions_of_github_alone(workflow, _):
    for name, job in jobs(workflow):
        if "uses" in job:
            yield f"job {name} calls another workflow"
    for name, step in steps(workflow):
        if "uses" in step and not step["uses"].startswith("actions/"):
            yield f"job {name} uses {step['uses']}, which is not GitHub's own"


def jobs_of_pull_requests_on_our_runners(workflow):
    if triggers(workflow) & OF_PULL_REQUESTS:
        yield from ((name, job) for name, job in jobs(workflow) if "self-hosted" in job.get("runs-on", []))


def our_runners_ask_first(workflow, _):
    for name, job in jobs_of_pull_requests_on_our_runners(workflow):
        if "head.repo.full_name == github.repository" not in str(job.get("if", "")):
            yield f"job {name} runs any fork's code on our own runner"


def our_runners_run_what_was_read(workflow, _):
    """A label is set to whatever the head is by then. A review is of the commit that its author saw."""
    on = workflow.get("on", {})
    if isinstance(on, dict) and "labeled" in ((on.get("pull_request") or {}).get("types") or []):
        yield "is started by a label, which names no commit"
    for name, job in jobs_of_pull_requests_on_our_runners(workflow):
        if "pull_request_review" in triggers(workflow) and not all(part in str(job.get("if", "")) for part in REVIEWED):
            yield f"job {name} runs another commit than the one that was reviewed, or anybody's review starts it"
        scripts = [step["run"] for step in job.get("steps", []) if "run" in step]
        if scripts and "git rev-parse HEAD^2" not in scripts[0]:
            yield f"job {name} does not compare its checkout with the reviewed commit before it runs anything"


def every_job_ends(workflow, _):
    for name, job in jobs(workflow):
        if "timeout-minutes" not in job:
            yield f"job {name} has no timeout-minutes"


RULES = [
    writes_only_beside_the_code,
    no_secrets,
    no_token_beside_foreign_code,
    no_credentials_left_in_the_tree,
    default_branch_only_where_it_writes,
    actions_of_github_alone,
    our_runners_ask_first,
    our_runners_run_what_was_read,
    every_job_ends,
]
