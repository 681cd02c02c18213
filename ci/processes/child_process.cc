#include "ci/processes/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/record/program_variables.h"

extern char** environ;

namespace fusegate::ci {
namespace {

using baselines::FileDescriptor;
using baselines::uninterrupted;
using Clock = std::chrono::steady_clock;

// How often the child is polled where its pipes are silent, or closed by a child that lives on.
constexpr int kPollMilliseconds = 50;
// The same of children that load: all wait for the last one.
constexpr int kLoadingPollMilliseconds = 10;
// As a shell's; nobody sees it, since the reason is reported.
constexpr int kExitNotStarted = 127;
// Of a failure's last line.
constexpr std::size_t kLongestError = 4096;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void throw_system_error(int error, const std::string& what) {
  throw std::system_error(error, std::system_category(), what);
}

constexpr std::string_view kBlanks = " \t\n";

// The word that begins there; ends behind it.
std::string next_word(const std::string& text, std::size_t& at) {
  std::string word;
  char quote = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\' && quote != '\'' && at + 1 < text.size()) {
      word += text[++at];
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && kBlanks.find(c) != kBlanks.npos) {
      break;
    } else {
      word += c;
    }
  }
  if (quote != 0) throw baselines::InputError(text, "", "a quote in this command does not end");
  return word;
}

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw_system_error(errno, "pipe");
    read_end = FileDescriptor(ends[0]);
    write_end = FileDescriptor(ends[1]);
  }

  FileDescriptor read_end;
  FileDescriptor write_end;
};

// The reading end of one of the child's streams, cut into lines.
class LineReader {
 public:
  explicit LineReader(OutputStream stream) : stream_(stream) {
    fcntl(pipe_.read_end.get(), F_SETFL, O_NONBLOCK);
  }

  int read_fd() const { return pipe_.read_end.get(); }
  int write_fd() const { return pipe_.write_end.get(); }
  void close_write_end() { pipe_.write_end.close(); }

  // Hands on the whole lines of what has arrived, but of no more than kMostAtOnce: a program that
  // prints faster than we read must not keep us from its time limit and from signals.
  void forward(const ChildProcess& request) {
    if (!early_.empty()) take(std::exchange(early_, {}), request);
    std::array<char, 65536> buffer;
    for (std::size_t taken = 0; pipe_.read_end.is_open() && taken < kMostAtOnce;) {
      const ssize_t size = ::read(pipe_.read_end.get(), buffer.data(), buffer.size());
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) break;  // nothing more for now
      if (size == 0) {
        pipe_.read_end.close();
        break;
      }
      taken += static_cast<std::size_t>(size);
      take({buffer.data(), static_cast<std::size_t>(size)}, request);
    }
  }

  // Takes what has arrived, to be handed on later: a full pipe would keep the program from loading.
  void keep() {
    std::array<char, 65536> buffer;
    while (early_.size() < kMostAtOnce) {
      const ssize_t size = ::read(pipe_.read_end.get(), buffer.data(), buffer.size());
      if (size <= 0) return;  // what ended or failed does so again
      early_.append(buffer.data(), static_cast<std::size_t>(size));
    }
  }

  // Once the program has ended: a pipe holds less than is taken at once, and what it left behind
  // elsewhere may never stop printing.
  void forward_rest(const ChildProcess& request) {
    forward(request);
    if (!line_.empty() || left_out_ > 0) hand_on(request);
  }

  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kMostAtOnce = 1 << 20;

  void take(std::string_view text, const ChildProcess& request) {
    bytes_ += text.size();
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view part = text.substr(0, end);
      const std::string_view kept = part.substr(0, request.longest_line - line_.size());
      line_ += kept;
      left_out_ += part.size() - kept.size();
      if (end == text.npos) return;
      hand_on(request);
      text.remove_prefix(end + 1);
    }
  }

  void hand_on(const ChildProcess& request) {
    if (left_out_ > 0) {
      line_ += " ... (" + std::to_string(left_out_) + " bytes of this line are left out)";
    }
    if (request.on_line) request.on_line(stream_, line_);
    line_.clear();
    left_out_ = 0;
  }

  OutputStream stream_;
  Pipe pipe_;
  std::string early_;         // that was kept
  std::string line_;          // that has not ended yet
  std::size_t left_out_ = 0;  // bytes of it
  std::size_t bytes_ = 0;     // of all lines
};

// A file without a name as the child's standard input: unlike a pipe it needs no feeding, whatever
// its size, and cannot deadlock with the child's output.
FileDescriptor input_file(const std::string& input) {
  if (input.empty()) {
    FileDescriptor nothing(uninterrupted([] { return open("/dev/null", O_RDONLY | O_CLOEXEC); }));
    if (!nothing.is_open()) throw_system_error(errno, "/dev/null");
    return nothing;
  }
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::tmpfile(), std::fclose);
  if (!file || std::fwrite(input.data(), 1, input.size(), file.get()) != input.size() ||
      std::fflush(file.get()) != 0) {
    throw_system_error(errno, "temporary file for a program's input");
  }
  std::rewind(file.get());
  return FileDescriptor(fcntl(fileno(file.get()), F_DUPFD_CLOEXEC, 3));
}

// Ours, with those variables in place of what it says of them: "NAME=value".
std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!variables.contains(std::string(text.substr(0, text.find('='))))) all.emplace_back(text);
  }
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  return all;
}

// As C wants them; they point into the strings.
std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

struct Streams {
  int in;
  int out;
  int err;
  int turn = -1;  // keeps its number; none: -1
};

// What the new process does until it is the program: calls that are safe after fork() alone. A new
// group, and signals as a fresh process has them: we may hold them back, the program must not.
[[noreturn]] void become(char* const* argv, char* const* variables, const Streams& streams,
                         pid_t parent, int failure_fd) {
  setpgid(0, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // It ends with us however we end: nobody would look at what it goes on to measure, and the next
  // run would share the device with it. We may have ended before it asked for that.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExitNotStarted);
  if (streams.turn >= 0) fcntl(streams.turn, F_SETFD, 0);
  if (dup2(streams.in, STDIN_FILENO) >= 0 && dup2(streams.out, STDOUT_FILENO) >= 0 &&
      dup2(streams.err, STDERR_FILENO) >= 0) {
    execvpe(argv[0], argv, variables);
  }
  const int error = errno;
  uninterrupted([&] { return ::write(failure_fd, &error, sizeof error); });
  _exit(kExitNotStarted);
}

class Child {
 public:
  Child(const ChildProcess& request, const Streams& streams) {
    std::vector<std::string> words = command_words(request.arguments.front());
    words.insert(words.end(), request.arguments.begin() + 1, request.arguments.end());
    const std::vector<char*> argv = pointers_to(words);
    const std::vector<std::string> texts = environment_with(request.environment);
    const std::vector<char*> variables = pointers_to(texts);
    Pipe failure;
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) throw_system_error(errno, "fork");
    if (pid_ == 0) {
      become(argv.data(), variables.data(), streams, parent, failure.write_end.get());
    }
    failure.write_end.close();
    // Ends without a word where the program has started, as the pipe closes there.
    int error = 0;
    const ssize_t size =
        uninterrupted([&] { return ::read(failure.read_end.get(), &error, sizeof error); });
    if (size == sizeof error) {
      reap();
      throw_system_error(error, request.arguments.front());
    }
  }
  ~Child() {
    if (!reaped_) reap();
  }
  Child(const Child&) = delete;  // a process has one owner
  Child& operator=(const Child&) = delete;

  bool has_ended() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
  }
  void send(int signal) const { kill(-pid_, signal); }

  // Ends what is left of the group, then collects the child. In this order: until then its number,
  // which is the group's, cannot have been given to anybody else.
  int reap() {
    send(SIGKILL);
    int status = 0;
    uninterrupted([&] { return waitpid(pid_, &status, 0); });
    reaped_ = true;
    return status;
  }

 private:
  pid_t pid_ = -1;
  bool reaped_ = false;
};

// When to ask the child to end, and when to stop asking.
class Supervisor {
 public:
  // before_s: what the child has taken so far.
  Supervisor(const ChildProcess& request, Child& child, double before_s)
      : request_(request), child_(child), before_s_(before_s) {}

  void check(std::size_t printed, ChildEnd* end) {
    if (const int signal = request_.interrupts ? request_.interrupts->take() : 0) {
      ask_to_end(end->interrupted_by == 0 ? signal : SIGKILL);
      end->interrupted_by = signal;
    }
    if (request_.timeout_s > 0 && !asked_ && seconds() > request_.timeout_s) {
      end->timed_out = true;
      ask_to_end(SIGTERM);
    }
    if (request_.most_output > 0 && !asked_ && printed > request_.most_output) {
      end->printed_too_much = true;
      ask_to_end(SIGTERM);
    }
    if (asked_ && seconds_since(asked_at_) > request_.grace_s) child_.send(SIGKILL);
  }
  double seconds() const { return before_s_ + seconds_since(start_); }

 private:
  void ask_to_end(int signal) {
    child_.send(signal);
    if (!asked_) asked_at_ = Clock::now();
    asked_ = true;
  }

  const ChildProcess& request_;
  Child& child_;
  double before_s_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point asked_at_;
  bool asked_ = false;
};

void wait_for_something(const LineReader& out, const LineReader& err,
                        const Interrupts* interrupts) {
  // poll() ignores entries with a negative descriptor: those of closed pipes.
  std::array<pollfd, 3> watched{{{out.read_fd(), POLLIN, 0},
                                 {err.read_fd(), POLLIN, 0},
                                 {interrupts ? interrupts->fd() : -1, POLLIN, 0}}};
  poll(watched.data(), watched.size(), kPollMilliseconds);
}

// A child with our ends of its streams.
struct Started {
  // turn: its end of the socket by which it waits for its turn, -1 for none.
  explicit Started(const ChildProcess& request, int turn = -1)
      : in(input_file(request.input)),
        child(request, {in.get(), out.write_fd(), err.write_fd(), turn}) {
    in.close();
    out.close_write_end();
    err.close_write_end();
  }

  LineReader out{OutputStream::kOut};
  LineReader err{OutputStream::kErr};
  FileDescriptor in;
  Child child;
};

// before_s: as the supervisor's.
ChildEnd follow_to_end(const ChildProcess& request, Started& started, double before_s) {
  auto& [out, err, in, child] = started;
  ChildEnd end;
  Supervisor supervisor(request, child, before_s);
  while (!child.has_ended()) {
    wait_for_something(out, err, request.interrupts);
    out.forward(request);
    err.forward(request);
    supervisor.check(out.bytes() + err.bytes(), &end);
    if (request.on_idle) request.on_idle();
  }
  end.seconds = supervisor.seconds();
  const int status = child.reap();
  out.forward_rest(request);
  err.forward_rest(request);
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return end;
}

// Our end of the socket by which a child waits for its turn, and the child's.
struct TurnSocket {
  TurnSocket() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      throw_system_error(errno, "socketpair");
    }
    ours = FileDescriptor(ends[0]);
    its = FileDescriptor(ends[1]);
  }

  FileDescriptor ours;
  FileDescriptor its;
};

struct LivingInterrupts {
  std::mutex mutex;
  std::set<const Interrupts*> all;
};

LivingInterrupts& living_interrupts() {
  static LivingInterrupts living;
  return living;
}

ChildProcess with_turn(ChildProcess request, const TurnSocket& turn) {
  request.environment[baselines::kTurnVariable] = std::to_string(turn.its.get());
  return request;
}

}  // namespace

Interrupts::Interrupts() {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ours, signal);
  signals_ = FileDescriptor(signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!signals_.is_open()) throw_system_error(errno, "signalfd");
  pthread_sigmask(SIG_BLOCK, &ours, &old_mask_);
  const std::lock_guard lock(living_interrupts().mutex);
  // What another thread saw before this object was there.
  for (const Interrupts* other : living_interrupts().all) {
    if (other->thread_ != thread_) continue;
    waiting_.insert(waiting_.end(), other->waiting_.begin(), other->waiting_.end());
    other->waiting_.clear();
  }
  living_interrupts().all.insert(this);
}

Interrupts::~Interrupts() {
  {
    const std::lock_guard lock(living_interrupts().mutex);
    look();
    living_interrupts().all.erase(this);
  }
  pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

// One reader takes a signal from all of them.
void Interrupts::look() const {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    waiting_.push_back(static_cast<int>(info.ssi_signo));
    for (const Interrupts* other : living_interrupts().all) {
      if (other->thread_ != thread_) other->waiting_.push_back(waiting_.back());
    }
  }
}

int Interrupts::take() const {
  const std::lock_guard lock(living_interrupts().mutex);
  look();
  if (waiting_.empty()) return 0;
  const int signal = waiting_.front();
  waiting_.pop_front();
  return signal;
}

bool Interrupts::any_waits() const {
  const std::lock_guard lock(living_interrupts().mutex);
  look();
  return !waiting_.empty();
}

std::vector<std::string> command_words(const std::string& program) {
  std::error_code ignored;
  const bool is_plain = program.find_first_of(" \t\n'\"\\") == std::string::npos;
  if (is_plain || std::filesystem::exists(program, ignored)) return {program};
  std::vector<std::string> words;
  for (std::size_t at = program.find_first_not_of(kBlanks); at < program.size();
       at = program.find_first_not_of(kBlanks, at)) {
    words.push_back(next_word(program, at));
  }
  return words.empty() ? std::vector{program} : words;
}

ChildEnd run_child(const ChildProcess& request) {
  Started started(request);
  return follow_to_end(request, started, 0);
}

struct StartedChild::Process {
  explicit Process(const ChildProcess& request)
      : timeout_s(request.timeout_s), started(with_turn(request, turn), turn.its.get()) {
    turn.its.close();  // so that the socket ends with the child
  }

  // The word it has sent; 0 for none.
  char word() const {
    char byte = 0;
    return recv(turn.ours.get(), &byte, 1, MSG_DONTWAIT) == 1 ? byte : '\0';
  }

  double timeout_s;
  TurnSocket turn;
  Started started;
  Clock::time_point start = Clock::now();
  State state = State::kLoading;
  double load_s = 0;
  bool timed_out = false;
};

StartedChild::StartedChild(const ChildProcess& request)
    : process_(std::make_unique<Process>(request)) {}
StartedChild::~StartedChild() = default;
StartedChild::StartedChild(StartedChild&&) noexcept = default;
StartedChild& StartedChild::operator=(StartedChild&&) noexcept = default;

StartedChild::State StartedChild::look() {
  Process& process = *process_;
  process.started.out.keep();
  process.started.err.keep();
  if (process.state != State::kLoading) return process.state;
  process.load_s = seconds_since(process.start);
  if (const char word = process.word(); word != '\0') {
    process.state = word == baselines::kUsesGpu ? State::kUsesGpu : State::kReady;
  } else if (process.started.child.has_ended()) {
    process.state = State::kEnded;
  } else if (process.timeout_s > 0 && process.load_s > process.timeout_s) {
    process.started.child.send(SIGKILL);
    process.timed_out = true;
    process.state = State::kEnded;
  }
  return process.state;
}

ChildEnd StartedChild::follow(const ChildProcess& request) {
  send(process_->turn.ours.get(), "t", 1, MSG_NOSIGNAL);  // fails where it has ended
  ChildEnd end = follow_to_end(request, process_->started, process_->load_s);
  end.timed_out = end.timed_out || process_->timed_out;
  return end;
}

bool wait_until_loaded(std::span<StartedChild> children, const Interrupts& interrupts) {
  pollfd signals{interrupts.fd(), POLLIN, 0};
  while (!interrupts.any_waits()) {
    const auto loading = std::ranges::count(children, StartedChild::State::kLoading,
                                            [](StartedChild& child) { return child.look(); });
    if (loading == 0) return true;
    poll(&signals, 1, kLoadingPollMilliseconds);
  }
  return false;
}

ChildOutput collect_output(ChildProcess request) {
  ChildOutput output;
  request.longest_line = request.most_output = kMostCollected;
  std::string last_error;
  request.on_line = [&](OutputStream stream, std::string_view line) {
    if (stream == OutputStream::kOut) {
      output.out.append(line).push_back('\n');
    } else if (!line.empty()) {
      last_error = line.substr(0, kLongestError);
    }
  };
  try {
    const ChildEnd end = run_child(request);
    if (end.succeeded()) return output;
    output.failure = end.printed_too_much
                         ? "printed more than " + std::to_string(kMostCollected >> 20) + " MiB"
                     : end.timed_out   ? "took too long"
                     : end.signal != 0 ? "ended by signal " + std::to_string(end.signal)
                                       : "exit code " + std::to_string(end.exit_code);
  } catch (const std::system_error& error) {
    output.failure = "cannot be started: " + error.code().message();
  }
  if (!last_error.empty()) output.failure += ": " + last_error;
  return output;
}

std::string output_of(const std::vector<std::string>& arguments) {
  ChildOutput output = collect_output({.arguments = arguments, .timeout_s = 10});
  if (!output.failure.empty()) return "";
  if (output.out.ends_with('\n')) output.out.pop_back();
  return output.out;
}

}  // namespace fusegate::ci
