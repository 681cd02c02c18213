#include "baselines/io/write_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <thread>
#include <vector>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::baselines {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::ptrdiff_t entries_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

// Another process, that has done the work and lives until it is killed.
class OtherProcess {
 public:
  explicit OtherProcess(const std::function<void()>& work) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      work();
      [[maybe_unused]] const ssize_t ignored = ::write(ends[1], "x", 1);
      ::pause();
      ::_exit(0);
    }
    char done = 0;
    [[maybe_unused]] const ssize_t ignored = ::read(ends[0], &done, 1);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~OtherProcess() { kill_it(); }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  void kill_it() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

class WriteLockTest : public testing::Test {
 protected:
  const ScratchFolder folder_;
};
using LeftoversTest = WriteLockTest;

TEST_F(WriteLockTest, RefusesASecondProcessByTheNumberOfTheFirst) {
  OtherProcess other(
      [&] { static const WriteLock lock = WriteLock::of_folder(folder_.path() / "run", "--out"); });
  EXPECT_THAT([&] { WriteLock::of_folder(folder_.path() / "run", "--out"); },
              ThrowsMessage<InputError>(
                  AllOf(HasSubstr((folder_.path() / "run").string() + ": --out: process " +
                                  std::to_string(other.pid()) + " writes into this folder now"))));
}

TEST_F(WriteLockTest, IsGivenBackByAProcessThatIsKilled) {
  const fs::path path = folder_.path() / "1.json";
  OtherProcess other([&] { static const WriteLock lock = WriteLock::of_file(path); });
  EXPECT_THAT([&] { WriteLock::of_file(path); },
              ThrowsMessage<InputError>(HasSubstr("writes this file now")));
  other.kill_it();
  EXPECT_NO_THROW(WriteLock::of_file(path));
  EXPECT_EQ(entries_in(folder_.path()), 0);
}

TEST_F(WriteLockTest, WaitsAsLongAsItIsAskedTo) {
  const fs::path path = folder_.path() / "smoke.json";
  std::optional<WriteLock> first = WriteLock::of_file(path);
  std::jthread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    first.reset();
  });
  EXPECT_THROW(WriteLock::of_file(path), InputError);
  EXPECT_NO_THROW(WriteLock::of_file(path, std::chrono::seconds(20)));
}

TEST_F(WriteLockTest, LeavesNothingBehindAndTakesAnotherFileAtTheSameTime) {
  {
    const WriteLock one = WriteLock::of_file(folder_.path() / "1.json");
    const WriteLock two = WriteLock::of_file(folder_.path() / "2.json");
    const WriteLock all = WriteLock::of_folder(folder_.path(), "");
    EXPECT_EQ(entries_in(folder_.path()), 3);
  }
  EXPECT_EQ(entries_in(folder_.path()), 0);
  EXPECT_NO_THROW(WriteLock::of_file("/dev/null"));
}

TEST_F(WriteLockTest, IsHeldByOneOfManyWhoTakeItAndGiveItBack) {
  const fs::path path = folder_.path() / "counted";
  std::atomic<int> held = 0;
  std::atomic<bool> two_held = false;
  const auto work = [&] {
    for (int i = 0; i < 50; ++i) {
      const WriteLock lock = WriteLock::of_file(path, std::chrono::seconds(60));
      if (++held > 1) two_held = true;
      --held;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  }
  EXPECT_FALSE(two_held);
  EXPECT_EQ(entries_in(folder_.path()), 0);
}

TEST_F(LeftoversTest, GoWhereTheirProcessIsGoneAndStayWhereItLives) {
  const fs::path left = folder_.write("x/.1.json.fusegate-AbCdEf", "half");
  const fs::path old_lock = folder_.write("x/.2.json.fusegate-lock", "1");
  const fs::path foreign = folder_.write("x/.1.json.AbCdEf", "somebody's");
  const fs::path plain = folder_.write("x/1.fusegate-lock", "somebody's");
  const WriteLock ours = WriteLock::of_file(folder_.path() / "x" / "3.json");
  remove_leftovers(folder_.path() / "x");
  EXPECT_FALSE(fs::exists(left));
  EXPECT_FALSE(fs::exists(old_lock));
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_TRUE(fs::exists(plain));
  EXPECT_TRUE(fs::exists(folder_.path() / "x" / ".3.json.fusegate-lock"));
  EXPECT_NO_THROW(remove_leftovers(folder_.path() / "missing"));
}

TEST_F(LeftoversTest, GoWithAProcesssFirstWriteIntoTheFolder) {
  { std::ofstream(folder_.path() / ".1.json.fusegate-AbCdEf") << "half"; }
  write_atomically(folder_.path() / "2.json", "{}");
  EXPECT_EQ(entries_in(folder_.path()), 1);
}

// Both write all the time; each new process looks for leftovers among the other's files.
TEST_F(LeftoversTest, AreNotTakenFromTwoThatWriteBesideEachOther) {
  std::vector<pid_t> writers;
  for (const char* name : {"a.json", "b.json"}) {
    writers.push_back(::fork());
    if (writers.back() != 0) continue;
    try {
      for (int i = 0; i < 40; ++i) {
        remove_leftovers(folder_.path());
        write_atomically(folder_.path() / name, std::string(2000, 'x'));
      }
    } catch (const InputError&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  for (const pid_t writer : writers) {
    int status = -1;
    ASSERT_EQ(::waitpid(writer, &status, 0), writer);
    EXPECT_EQ(status, 0) << "a write failed: its file was taken away";
  }
  EXPECT_EQ(entries_in(folder_.path()), 2);
}

}  // namespace
}  // namespace fusegate::baselines
