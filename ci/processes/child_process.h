// Runs a program to its end, in a process group of its own, so that everything it started ends with
// it. Its output is read line by line, its time can be limited, and a signal that interrupts us is
// passed on to it. Where we are killed, it is killed too, also after an exec; what else it started
// is not.
#pragma once

#include <signal.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "baselines/io/file_descriptor.h"

namespace fusegate::ci {

// Ctrl-C and similar signals, to be asked for. While an object lives, SIGINT, SIGTERM and SIGHUP do
// not reach this thread and those it starts, but are collected here. So a measurement can end in
// order: the child first, then the record. A signal reaches the objects of all threads, and of one
// thread the object that asks first.
class Interrupts {
 public:
  Interrupts();
  // Gives the signals back as they were; ones that nobody took are dropped, since they have had
  // their effect.
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;  // the mask is the thread's: there is one
  Interrupts& operator=(const Interrupts&) = delete;

  // Readable while a signal waits that no thread has seen: for poll().
  int fd() const { return signals_.get(); }
  // The next signal that waits, 0 for none. Does not block.
  int take() const;
  bool any_waits() const;

 private:
  void look() const;  // the list's lock is held

  sigset_t old_mask_;
  baselines::FileDescriptor signals_;
  const std::thread::id thread_ = std::this_thread::get_id();
  mutable std::deque<int> waiting_;
};

// The words of a program as people name it: a file or, with arguments of its own, a command such as
// "python3 -m fusegate run kernels.py". One word at least, split at blanks outside of quotes and
// not behind a backslash. A file of that whole name is one word, blanks and all. Throws InputError
// for a quote that does not end.
std::vector<std::string> command_words(const std::string& program);

enum class OutputStream { kOut, kErr };

struct ChildProcess {
  // The first is a path, a name that is looked up in PATH, or a command with arguments of its own
  // (command_words()).
  std::vector<std::string> arguments;
  std::string input{};                               // what it reads from its standard input
  std::map<std::string, std::string> environment{};  // variables, besides ours or in their place
  double timeout_s = 0;                              // 0: none
  // Each line without its newline; the last one also where it has none. Of a line longer than
  // longest_line the rest is left out, which its end then says.
  std::function<void(OutputStream, std::string_view)> on_line{};
  std::size_t longest_line = 64 << 10;
  std::size_t most_output = 0;      // bytes; where it prints more, it is asked to end. 0: no limit
  std::function<void()> on_idle{};  // called several times a second while it runs
  const Interrupts* interrupts = nullptr;  // signals taken from here are sent on to the process
  // How long it may take to end when asked to, before it is killed.
  double grace_s = 10;
};

struct ChildEnd {
  int exit_code = 0;  // meaningful where signal is 0
  int signal = 0;     // the one that ended it, 0 for none
  bool timed_out = false;
  bool printed_too_much = false;
  int interrupted_by = 0;  // the signal that reached us while it ran, 0 for none
  double seconds = 0;

  bool succeeded() const {
    return signal == 0 && exit_code == 0 && !timed_out && !printed_too_much;
  }
};

// Throws std::system_error where the program cannot be started, and InputError where it is a
// command whose quotes do not end.
ChildEnd run_child(const ChildProcess& request);

// A program that is started before its turn, so that it loads while others do. It must be one that
// waits for its turn (baselines::kTurnVariable). Where it is not followed, it is killed.
class StartedChild {
 public:
  // kEnded: also where it was killed, since it has loaded for as long as its time limit.
  enum class State { kLoading, kReady, kUsesGpu, kEnded };

  // Of the request, on_line and on_idle are not called before it is followed. Throws as
  // run_child().
  explicit StartedChild(const ChildProcess& request);
  ~StartedChild();
  StartedChild(StartedChild&&) noexcept;
  StartedChild& operator=(StartedChild&&) noexcept;

  // How far it is by now. Keeps what it has printed.
  State look();
  // Gives it its turn, and is then run_child(). request: of the same program. In its seconds and
  // its time limit, loading counts and waiting for the turn does not.
  ChildEnd follow(const ChildProcess& request);

 private:
  struct Process;
  std::unique_ptr<Process> process_;
};

// Returns once none of them loads any more. False where a signal came first; it still waits.
bool wait_until_loaded(std::span<StartedChild> children, const Interrupts& interrupts);

struct ChildOutput {
  std::string out;
  // Why it did not succeed, with its last line of error: "exit code 3: no such device". Else empty.
  std::string failure;
};

// The same for what is wanted of it as a whole, up to kMostCollected bytes. request.on_line is not
// called. Does not throw where it cannot be started; that is a failure too.
inline constexpr std::size_t kMostCollected = 64 << 20;
ChildOutput collect_output(ChildProcess request);

// Its standard output where it succeeds within ten seconds; else, or where it cannot be started,
// "". The last newline is cut.
std::string output_of(const std::vector<std::string>& arguments);

}  // namespace fusegate::ci
