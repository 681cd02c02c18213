#include "ci/processes/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "tests/fakes/fake_program.h"

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;
using tests::write_script;

TEST(CommandWordsTest, SplitsACommandAtItsBlanks) {
  EXPECT_THAT(command_words("fusegate_bench"), ElementsAre("fusegate_bench"));
  EXPECT_THAT(command_words("python3 -m fusegate run  kernels.py "),
              ElementsAre("python3", "-m", "fusegate", "run", "kernels.py"));
  EXPECT_THAT(command_words(R"(env A='b c' "my kernels/run.py" two\ words "" '\')"),
              ElementsAre("env", "A=b c", "my kernels/run.py", "two words", "", "\\"));
}

TEST(CommandWordsTest, GivesAProcessItsOwnArgumentsFirst) {
  const baselines::ScratchFolder folder;
  const std::string program = write_script(folder, "bench", "echo \"$@\"");
  EXPECT_EQ(output_of({program + " run 'my kernels.py'", "--suite=all"}),
            "run my kernels.py --suite=all");
}

TEST(CommandWordsTest, LeavesAFileWholeWhateverItsName) {
  const baselines::ScratchFolder folder;
  const std::string program = write_script(folder, "my 'own' bench", "echo $#");
  EXPECT_THAT(command_words(program), ElementsAre(program));
  EXPECT_EQ(output_of({program, "a", "b"}), "2");
}

TEST(CommandWordsTest, NamesACommandWhoseQuoteDoesNotEnd) {
  try {
    command_words("python3 'kernels.py");
    FAIL() << "taken";
  } catch (const baselines::InputError& error) {
    EXPECT_STREQ(error.what(), "python3 'kernels.py: a quote in this command does not end");
  }
}

struct Collected {
  std::vector<std::string> out;
  std::vector<std::string> err;
  ChildEnd end;
};

// A request of that shell script, whose lines go there.
ChildProcess shell(const std::string& script, Collected& collected) {
  ChildProcess request;
  request.arguments = {"sh", "-c", script};
  request.timeout_s = 30;
  request.grace_s = 0.5;
  request.on_line = [&](OutputStream stream, std::string_view line) {
    (stream == OutputStream::kOut ? collected.out : collected.err).emplace_back(line);
  };
  return request;
}

Collected run_shell(const std::string& script, double timeout_s = 30,
                    const Interrupts* interrupts = nullptr, const std::string& input = "") {
  Collected collected;
  ChildProcess request = shell(script, collected);
  request.input = input;
  request.timeout_s = timeout_s;
  request.interrupts = interrupts;
  collected.end = run_child(request);
  return collected;
}

TEST(RunProcess, KeepsTheStreamsApartAndCutsThemIntoLines) {
  const Collected collected = run_shell("echo one; echo two >&2; echo; printf last");
  EXPECT_THAT(collected.out, ElementsAre("one", "", "last"));
  EXPECT_THAT(collected.err, ElementsAre("two"));
  EXPECT_TRUE(collected.end.succeeded());
}

TEST(RunProcess, SetsVariablesBesideOursAndInTheirPlace) {
  setenv("FUSEGATE_TEST_OURS", "ours", 1);
  setenv("FUSEGATE_TEST_BOTH", "ours", 1);
  Collected collected;
  ChildProcess request =
      shell("echo $FUSEGATE_TEST_OURS $FUSEGATE_TEST_BOTH $FUSEGATE_TEST_ITS", collected);
  request.environment = {{"FUSEGATE_TEST_BOTH", "its"}, {"FUSEGATE_TEST_ITS", "its"}};
  run_child(request);
  EXPECT_THAT(collected.out, ElementsAre("ours its its"));
}

TEST(RunProcess, HandsOnLinesWhileTheProgramStillRuns) {
  const baselines::ScratchFolder folder;
  const std::filesystem::path seen = folder.path() / "seen";
  ChildProcess request;
  request.arguments = {"sh", "-c",
                       "echo early; while ! test -e " + seen.string() + "; do sleep 0.05; done"};
  request.timeout_s = 30;
  request.on_line = [&](OutputStream, std::string_view) { std::ofstream(seen).flush(); };
  EXPECT_TRUE(run_child(request).succeeded());
}

TEST(RunProcess, DistinguishesExitCodesAndSignals) {
  EXPECT_EQ(run_shell("exit 3").end.exit_code, 3);
  const ChildEnd crashed = run_shell("kill -SEGV $$").end;
  EXPECT_EQ(crashed.signal, SIGSEGV);
  EXPECT_FALSE(crashed.succeeded());
}

TEST(RunProcess, FeedsAndReadsMoreThanAPipeHolds) {
  const std::string input(1'000'000, 'x');
  EXPECT_THAT(run_shell("wc -c | tr -d ' '", 30, nullptr, input).out, ElementsAre("1000000"));
  const Collected collected = run_shell("yes 0123456789 | head -n 100000; echo done >&2");
  EXPECT_EQ(collected.out.size(), 100'000u);
  EXPECT_THAT(collected.err, ElementsAre("done"));
}

TEST(RunProcess, KeepsOfALongLineItsBeginning) {
  const Collected collected = run_shell("head -c 300000 /dev/zero | tr '\\0' x; echo; printf y");
  ASSERT_EQ(collected.out.size(), 2u);
  EXPECT_EQ(collected.out[0],
            std::string(64 << 10, 'x') + " ... (234464 bytes of this line are left out)");
  EXPECT_EQ(collected.out[1], "y");
}

TEST(RunProcess, EndsInTimeAndBySignalsWhileALineHasNoEnd) {
  const std::string endless = "exec cat /dev/zero";
  const Collected timed = run_shell(endless, 0.5);
  EXPECT_TRUE(timed.end.timed_out);
  EXPECT_LT(timed.end.seconds, 5);
  ASSERT_EQ(timed.out.size(), 1u);
  EXPECT_LT(timed.out[0].size(), 70'000u);
  const Interrupts interrupts;
  std::jthread interruption([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    kill(getpid(), SIGINT);
  });
  const Collected interrupted = run_shell(endless, 30, &interrupts);
  EXPECT_EQ(interrupted.end.interrupted_by, SIGINT);
  EXPECT_LT(interrupted.end.seconds, 10);
}

TEST(CollectOutput, EndsAProgramThatPrintsTooMuch) {
  Collected ignored;
  EXPECT_EQ(collect_output(shell("exec cat /dev/zero", ignored)).failure,
            "printed more than 64 MiB");
}

TEST(RunProcess, ThrowsTheSystemsReasonWhereItCannotStart) {
  ChildProcess request;
  request.arguments = {"/nonexistent/fusegate_bench"};
  try {
    run_child(request);
    FAIL() << "it was started";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ENOENT);
  }
}

TEST(RunProcess, EndsTheWholeGroupAtTheTimeLimit) {
  // The inner sleep holds the output pipe open: only a signal to the group ends it.
  const Collected collected = run_shell("sleep 60 & sleep 60", 0.2);
  EXPECT_TRUE(collected.end.timed_out);
  EXPECT_FALSE(collected.end.succeeded());
  EXPECT_LT(collected.end.seconds, 10);
  // Also what ignores the request to end.
  const ChildEnd killed = run_shell("trap '' TERM; while :; do sleep 0.05; done", 0.2).end;
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_TRUE(killed.timed_out);
}

// The state letter of /proc/PID/stat; 'X' where there is no such process.
char state_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string number;
  std::string name;
  char state = 'X';
  file >> number >> name >> state;
  return state;
}

// Waits for the process to be gone, a zombie or without a number.
bool ends_soon(const std::string& pid) {
  for (int i = 0; i < 100; ++i) {
    const char state = state_of(pid);
    if (state == 'X' || state == 'Z') return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

TEST(RunProcess, EndsWhatTheProgramLeftBehind) {
  const Collected collected = run_shell("sleep 60 & echo $!");
  ASSERT_EQ(collected.out.size(), 1u);
  // Killed at once; a zombie until its new parent has collected it.
  EXPECT_TRUE(ends_soon(collected.out[0]));
}

TEST(RunProcess, TheProgramEndsWithUsWhereWeAreKilled) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t ours = fork();
  if (ours == 0) {
    ChildProcess request;
    // It becomes another program, and takes no notice of what asks it to end.
    request.arguments = {"sh", "-c", "trap '' TERM HUP INT; echo $$; exec sleep 60"};
    request.on_line = [&](OutputStream, std::string_view line) {
      [[maybe_unused]] const ssize_t ignored = write(ends[1], line.data(), line.size());
    };
    run_child(request);
    _exit(0);
  }
  char number[16];
  const ssize_t size = read(ends[0], number, sizeof number);
  ASSERT_GT(size, 0);
  const std::string program(number, static_cast<std::size_t>(size));
  EXPECT_FALSE(state_of(program) == 'X' || state_of(program) == 'Z');
  kill(ours, SIGKILL);
  waitpid(ours, nullptr, 0);
  EXPECT_TRUE(ends_soon(program));
  kill(static_cast<pid_t>(std::stol(program)), SIGKILL);
  close(ends[0]);
  close(ends[1]);
}

TEST(RunProcess, PassesOurInterruptionOn) {
  const Interrupts interrupts;
  Collected collected;
  ChildProcess request = shell(
      "trap 'echo stopping; exit 7' INT; echo ready; while :; do sleep 0.05; done", collected);
  request.interrupts = &interrupts;
  request.on_line = [&, keep = request.on_line](OutputStream stream, std::string_view line) {
    keep(stream, line);
    if (line == "ready") raise(SIGINT);
  };
  const ChildEnd end = run_child(request);
  EXPECT_EQ(end.interrupted_by, SIGINT);
  EXPECT_EQ(end.exit_code, 7);
  EXPECT_THAT(collected.out, ElementsAre("ready", "stopping"));
}

// A child that runs the script's first part, waits for its turn and runs the second.
ChildProcess in_turn(const std::string& loading, const std::string& measuring,
                     Collected& collected) {
  return shell(std::string(tests::kAwaitTurn) + loading + "\nawait_turn r\n" + measuring,
               collected);
}

TEST(StartedChild, LoadsAtOnceAndMeasuresInItsTurn) {
  const baselines::ScratchFolder folder;
  const std::string mark = (folder.path() / "measured").string();
  Collected collected;
  const ChildProcess request = in_turn("echo loading", "echo measuring; touch " + mark, collected);
  const auto start = std::chrono::steady_clock::now();
  std::vector<StartedChild> children;
  children.emplace_back(request);
  EXPECT_TRUE(wait_until_loaded(children, Interrupts()));
  EXPECT_EQ(children[0].look(), StartedChild::State::kReady);
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  EXPECT_FALSE(std::filesystem::exists(mark));
  EXPECT_THAT(collected.out, testing::IsEmpty());
  const ChildEnd end = children[0].follow(request);
  EXPECT_TRUE(end.succeeded());
  EXPECT_THAT(collected.out, ElementsAre("loading", "measuring"));
  EXPECT_TRUE(std::filesystem::exists(mark));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(end.seconds, seconds.count() - 0.6) << "waiting does not count";
}

TEST(StartedChild, IsWaitedForUntilTheLastOneHasLoaded) {
  Collected collected;
  std::vector<StartedChild> children;
  for (const char* loading : {"sleep 0.5; echo", "yes | head -n 300000"}) {
    children.emplace_back(in_turn(loading, "", collected));
  }
  EXPECT_TRUE(wait_until_loaded(children, Interrupts()));
  for (StartedChild& child : children) EXPECT_EQ(child.look(), StartedChild::State::kReady);
  EXPECT_EQ(children[1].follow(in_turn("", "", collected)).exit_code, 0);
  EXPECT_EQ(collected.out.size(), 300'000u) << "more than a pipe holds";
}

TEST(StartedChild, SaysThatItUsesAGpu) {
  Collected collected;
  StartedChild child(shell(std::string(tests::kAwaitTurn) + "await_turn u", collected));
  EXPECT_TRUE(wait_until_loaded({&child, 1}, Interrupts()));
  EXPECT_EQ(child.look(), StartedChild::State::kUsesGpu);
}

TEST(StartedChild, MayDieOrNeverEndWhileItLoads) {
  Collected collected;
  const ChildProcess dying = shell("echo 'no module' >&2; exit 7", collected);
  ChildProcess endless = shell("sleep 60 & sleep 60", collected);
  endless.timeout_s = 0.3;
  std::vector<StartedChild> children;
  children.emplace_back(dying);
  children.emplace_back(endless);
  EXPECT_TRUE(wait_until_loaded(children, Interrupts()));
  for (StartedChild& child : children) EXPECT_EQ(child.look(), StartedChild::State::kEnded);
  const ChildEnd died = children[0].follow(dying);
  EXPECT_EQ(died.exit_code, 7);
  EXPECT_FALSE(died.timed_out);
  EXPECT_THAT(collected.err, ElementsAre("no module"));
  EXPECT_TRUE(children[1].follow(endless).timed_out);
}

TEST(StartedChild, HasItsTimeLimitForLoadingAndMeasuring) {
  Collected collected;
  ChildProcess request = in_turn("sleep 2", "exec sleep 60", collected);
  request.timeout_s = 4;
  StartedChild child(request);
  EXPECT_TRUE(wait_until_loaded({&child, 1}, Interrupts()));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(child.follow(request).timed_out);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  // About 2 s: on a busy machine less, since loading takes longer, or more, since ending does.
  EXPECT_GT(seconds.count(), 0.7) << "waiting does not count";
  EXPECT_LT(seconds.count(), 3.8) << "loading does";
}

TEST(StartedChild, IsKilledWhereItIsNotFollowed) {
  const baselines::ScratchFolder folder;
  const std::string file = (folder.path() / "pid").string();
  Collected collected;
  std::string pid;
  {
    StartedChild child(in_turn("trap '' TERM HUP INT; echo $$ > " + file, "", collected));
    EXPECT_TRUE(wait_until_loaded({&child, 1}, Interrupts()));
    std::ifstream(file) >> pid;
    EXPECT_NE(state_of(pid), 'X');
  }
  EXPECT_EQ(state_of(pid), 'X');
}

TEST(StartedChild, ASignalEndsTheWaitingAndIsLeftForOthers) {
  Collected collected;
  StartedChild child(shell("exec sleep 60", collected));
  const Interrupts interrupts;
  raise(SIGINT);
  EXPECT_FALSE(wait_until_loaded({&child, 1}, interrupts));
  EXPECT_EQ(interrupts.take(), SIGINT);
}

TEST(Interrupts, CollectSignalsWithoutBlocking) {
  const Interrupts interrupts;
  EXPECT_EQ(interrupts.take(), 0);
  raise(SIGTERM);
  EXPECT_EQ(interrupts.take(), SIGTERM);
  EXPECT_EQ(interrupts.take(), 0);
}

TEST(Interrupts, OneSignalReachesTheChildrenOfAllThreads) {
  const Interrupts ours;  // so that the threads hold signals back, too
  std::array<int, 3> seen{};
  std::atomic<int> started = 0;
  {
    std::vector<std::jthread> threads;
    for (int& signal : seen) {
      threads.emplace_back([&] {
        const Interrupts outer;
        Collected collected;
        ChildProcess request = shell("exec sleep 60", collected);
        const Interrupts inner;
        request.interrupts = &inner;
        ++started;
        signal = run_child(request).interrupted_by;
      });
    }
    while (started < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    kill(getpid(), SIGTERM);
  }
  EXPECT_THAT(seen, ElementsAre(SIGTERM, SIGTERM, SIGTERM));
}

TEST(Interrupts, WhatAnotherThreadSawMeetsTheNextOfThisThread) {
  const Interrupts outer;
  kill(getpid(), SIGTERM);
  std::jthread([] { EXPECT_EQ(Interrupts().take(), SIGTERM); }).join();
  EXPECT_EQ(Interrupts().take(), SIGTERM);
  EXPECT_EQ(outer.take(), 0);
}

TEST(OutputOf, IsEmptyForFailureAndForNoProgram) {
  EXPECT_EQ(output_of({"sh", "-c", "echo a; echo b"}), "a\nb");
  EXPECT_EQ(output_of({"sh", "-c", "echo a; exit 1"}), "");
  EXPECT_EQ(output_of({"/nonexistent/program"}), "");
}

}  // namespace
}  // namespace fusegate::ci
