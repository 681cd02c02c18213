#include "bench/ranks/start_ranks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <system_error>

extern char** environ;

namespace fusegate::bench {
namespace {

using baselines::FileDescriptor;

// "1/2:7:8": rank, count, the socket to the first, the file of the notes.
constexpr const char* kVariable = "FUSEGATE_RANK";

struct Seat {
  int rank = 0, count = 1, socket = -1, notes = -1;
};

std::optional<Seat> seat() {
  const char* const text = std::getenv(kVariable);
  Seat seat;
  if (text == nullptr ||
      std::sscanf(text, "%d/%d:%d:%d", &seat.rank, &seat.count, &seat.socket, &seat.notes) != 4) {
    return std::nullopt;
  }
  return seat;
}

std::weak_ptr<RanksInProcesses>& started() {
  static std::weak_ptr<RanksInProcesses> started;
  return started;
}

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// One that nobody uses now; the ranks' store listens on it in a moment.
int free_port() {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const general = reinterpret_cast<sockaddr*>(&address);
  if (bind(socket.get(), general, size) != 0 || getsockname(socket.get(), general, &size) != 0) {
    fail("a port for the ranks");
  }
  return ntohs(address.sin_port);
}

void set_variables(int rank, int count) {
  setenv("RANK", std::to_string(rank).c_str(), 1);
  setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
  setenv("WORLD_SIZE", std::to_string(count).c_str(), 1);
}

std::shared_ptr<kernels::Ranks> join(const Seat& seat) {
  // Ctrl-C reaches all; the first decides, and the others end with it, however it ends.
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  unsetenv(kVariable);
  for (const int file : {seat.socket, seat.notes}) fcntl(file, F_SETFD, FD_CLOEXEC);
  return std::make_shared<RanksInProcesses>(seat.rank, seat.count, FileDescriptor(seat.socket),
                                            std::make_shared<Notes>(FileDescriptor(seat.notes)));
}

// Its standard output is nobody's: what there is to print, the first prints.
pid_t start(const std::vector<std::string>& command) {
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, command.front().c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return pid;
  throw std::system_error(error, std::generic_category(), "a rank: " + command.front());
}

OtherRank start_other(int rank, int count, const Notes& notes,
                      const std::vector<std::string>& command) {
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) fail("a rank's socket");
  FileDescriptor ours(pair[0]), theirs(pair[1]);
  fcntl(theirs.get(), F_SETFD, 0);
  setenv(kVariable, fmt::format("{}/{}:{}:{}", rank, count, theirs.get(), notes.file()).c_str(), 1);
  set_variables(rank, count);
  const pid_t pid = start(command);
  unsetenv(kVariable);
  return {.socket = std::move(ours), .pid = pid};
}

}  // namespace

bool is_other_rank() {
  static const bool is_other = seat().has_value();
  return is_other;
}

std::shared_ptr<kernels::Ranks> start_ranks(int count, const std::vector<std::string>& command) {
  if (const auto own = seat()) return join(*own);
  if (count == 1) return std::make_shared<kernels::Ranks>();
  if (command.empty()) {
    throw std::runtime_error(
        "--ranks: the program does not say how it is started again (fusegate_program.restart)");
  }
  if (count > Notes::kMostRanks) {
    throw std::runtime_error(fmt::format("--ranks={}: at most {}", count, Notes::kMostRanks));
  }
  setenv("MASTER_ADDR", "127.0.0.1", 1);
  setenv("MASTER_PORT", std::to_string(free_port()).c_str(), 1);
  const auto notes = std::make_shared<Notes>();
  std::vector<OtherRank> others;
  for (int rank = 1; rank < count; ++rank) {
    others.push_back(start_other(rank, count, *notes, command));
  }
  set_variables(0, count);
  fcntl(notes->file(), F_SETFD, FD_CLOEXEC);
  const auto ranks = std::make_shared<RanksInProcesses>(std::move(others), notes);
  started() = ranks;
  return ranks;
}

void end_other_ranks() noexcept {
  if (const auto ranks = started().lock()) ranks->end();
}

}  // namespace fusegate::bench
