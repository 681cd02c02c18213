"""System calls that a signal interrupts, and reads and writes that handle a part: no result differs for it."""

from kills import stored_in, without_acceptance
from programs import FinishedFiles, Lost, require_no_leftovers, run_files


def interrupted_calls(programs, random):
    folder = programs.home / "interrupted"
    run, plain_store, store = folder / "run", folder / "plain", folder / "store"

    def faults():
        return f"interrupted=30;short=60;seed={random.randint(0, 2**31)}"

    programs.measure(run, "--processes=3", faults=faults()).must_be(0)
    finished_files = FinishedFiles()
    finished_files.read(run)
    if len(finished_files) != len(run_files(run)) or len(finished_files) != 3:
        raise Lost(f"{len(finished_files)} of 3 processes finished")
    programs.accept(run, plain_store, "plain").must_be(0)
    programs.accept(run, store, "with faults", faults=faults()).must_be(0)
    if without_acceptance(stored_in(store)) != without_acceptance(stored_in(plain_store)):
        raise Lost(f"{stored_in(store)} is not as without faults")
    shown = programs.show(run).must_be(0)
    again = programs.run(programs.fusegate, "show", run, faults=faults()).must_be(0)
    if again.out != shown.out:
        raise Lost(f"show says otherwise:\n{again.out}")
    finished_files.check()
    require_no_leftovers(folder)
