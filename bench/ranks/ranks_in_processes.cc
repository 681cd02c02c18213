#include "bench/ranks/ranks_in_processes.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "bench/ranks/exchange.h"
#include "bench/ranks/interrupt.h"

namespace fusegate::bench {
namespace {

using kernels::RankError;

// What the first answers: the texts of all, or why there are none.
constexpr const char* kTexts = "texts";
constexpr const char* kInterrupted = "texts, and a signal came";
constexpr const char* kFailed = "failed";

// The first of another's ranks.
class FirstRanks : public kernels::Ranks {
 public:
  FirstRanks(RanksInProcesses& all, int count) : all_(all), count_(count) {}

  int rank() const override { return all_.rank(); }
  int count() const override { return count_; }
  std::vector<std::string> gather(std::string_view what, std::string mine) override {
    return all_.gather_among(count_, what, std::move(mine));
  }
  void note(std::string_view doing) override { all_.note(doing); }
  std::string whereabouts() const override { return all_.whereabouts(); }
  std::span<std::uint32_t> shared_numbers() override { return all_.shared_numbers(); }

 private:
  RanksInProcesses& all_;
  int count_;
};

}  // namespace

std::shared_ptr<kernels::Ranks> RanksInProcesses::first_ranks(int count) {
  std::shared_ptr<Ranks>& ranks = first_ranks_[count];
  if (!ranks) ranks = std::make_shared<FirstRanks>(*this, count);
  return ranks;
}

RanksInProcesses::RanksInProcesses(std::vector<OtherRank> others, std::shared_ptr<Notes> notes)
    : count_(static_cast<int>(others.size()) + 1),
      others_(std::move(others)),
      notes_(std::move(notes)) {
  set_agreed_interrupt(false);
}

RanksInProcesses::RanksInProcesses(int rank, int count, baselines::FileDescriptor first,
                                   std::shared_ptr<Notes> notes)
    : rank_(rank), count_(count), first_(std::move(first)), notes_(std::move(notes)) {
  set_agreed_interrupt(false);
}

RanksInProcesses::~RanksInProcesses() { end(); }

void RanksInProcesses::end() noexcept {
  is_ending_ = true;
  for (OtherRank& other : others_) {
    if (other.pid <= 0) continue;
    kill(other.pid, SIGKILL);
    baselines::uninterrupted([&] { return waitpid(other.pid, nullptr, 0); });
    other.pid = 0;
  }
}

std::string RanksInProcesses::how_it_ended(std::size_t other) {
  int status = 0;
  const pid_t pid = std::exchange(others_[other].pid, 0);
  if (pid <= 0 || baselines::uninterrupted([&] { return waitpid(pid, &status, 0); }) != pid) {
    return "ended";
  }
  if (!WIFSIGNALED(status)) return fmt::format("ended with exit code {}", WEXITSTATUS(status));
  return fmt::format("was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
}

std::vector<std::string> RanksInProcesses::gather_as_first(std::size_t others,
                                                           std::string_view what,
                                                           std::string mine) {
  std::vector<std::string> texts{std::move(mine)};
  std::string failure;
  const auto is_failure = [](const Message& at) {
    return !at.text.empty() && at.what.ends_with(kernels::kHasEnded);
  };
  for (std::size_t i = 0; i < others; ++i) {
    const auto message = receive_message(others_[i].socket.get());
    while (!message && is_ending_) pause();
    if (!message) {
      const std::string at = notes_->read(static_cast<int>(i) + 1);
      failure =
          fmt::format("rank {} {}{}", i + 1, how_it_ended(i),
                      at.empty() ? ", before it could begin" : fmt::format("; it was at '{}'", at));
    } else if (message->what == what) {
      texts.push_back(message->text);
    } else if (failure.empty() && is_failure(*message)) {
      failure = fmt::format("rank {}: {}", i + 1, message->text);
    } else if (failure.empty()) {
      const Message here{std::string(what), texts[0]};
      failure = is_failure(here) ? "rank 0: " + here.text
                                 : fmt::format("rank {} is at '{}', and rank 0 at '{}'", i + 1,
                                               message->what, what);
    }
  }
  set_agreed_interrupt(signalled_here());
  const Message answer{!failure.empty() ? kFailed
                       : interrupted()  ? kInterrupted
                                        : kTexts,
                       failure.empty() ? pack(texts) : failure};
  for (std::size_t i = 0; i < others; ++i) send_message(others_[i].socket.get(), answer);
  if (!failure.empty()) throw RankError(failure);
  return texts;
}

std::vector<std::string> RanksInProcesses::gather_among(int count, std::string_view what,
                                                        std::string mine) {
  if (rank_ == 0) {
    return gather_as_first(static_cast<std::size_t>(count) - 1, what, std::move(mine));
  }
  if (!send_message(first_.get(), {std::string(what), std::move(mine)})) {
    throw RankError("rank 0 has ended");
  }
  const auto answer = receive_message(first_.get());
  if (!answer) throw RankError("rank 0 has ended");
  if (answer->what == kFailed) throw RankError(answer->text);
  set_agreed_interrupt(answer->what == kInterrupted);
  return unpack(answer->text);
}

std::string RanksInProcesses::whereabouts() const {
  std::string text;
  for (int rank = 0; rank < count_; ++rank) {
    const std::string note = notes_->read(rank);
    text += fmt::format("{}rank {}: {}", rank == 0 ? "" : "; ", rank, note.empty() ? "?" : note);
  }
  return text;
}

}  // namespace fusegate::bench
