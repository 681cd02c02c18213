// A history that cannot be used, or that somebody else writes, or whose writer dies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "baselines/history/history.h"
#include "baselines/history/test_night.h"
#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::baselines {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr int kBenchmarks = 100;

class BadInputTest : public ::testing::Test {
 protected:
  std::string file() const { return (folder_.path() / "history.db").string(); }
  void add_nights(int first, int last) const {
    History history(file(), DatabaseUse::kWrite);
    for (int i = first; i <= last; ++i) history.add(test_night(i, kBenchmarks));
  }
  std::vector<Night> read() const { return History(file(), DatabaseUse::kRead).whole_nights(); }
  void expect_whole_nights(std::size_t count) const {
    const std::vector<Night> nights = read();
    EXPECT_THAT(nights, SizeIs(count));
    for (const Night& night : nights) EXPECT_THAT(night.benchmarks, SizeIs(kBenchmarks));
  }
  void run_sql(const char* sql) const {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &connection), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(connection, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(connection);
  }

  ScratchFolder folder_;
};

std::string problem_of(const std::function<void()>& what) {
  try {
    what();
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

// In a process of its own, which ends with what it returns.
pid_t start(const std::function<int()>& what) {
  const pid_t child = fork();
  if (child == 0) _exit(what());
  return child;
}

int exit_code_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(BadInputTest, AFileThatIsNotThereOrIsNone) {
  EXPECT_EQ(problem_of([&] { read(); }),
            file() + ": is not there; a history is made by: fusegate history add RUN");
  EXPECT_THAT(problem_of([&] { History(folder_.path(), DatabaseUse::kWrite); }),
              HasSubstr("is not a file"));
  folder_.write("history.db", "{\"fusegate_baseline\": 1}" + std::string(4096, ' '));
  for (const DatabaseUse use : {DatabaseUse::kRead, DatabaseUse::kWrite}) {
    EXPECT_THAT(problem_of([&] { History(file(), use); }),
                StartsWith(file() + ": is not a history, or its start is damaged"));
  }
}

TEST_F(BadInputTest, ADatabaseOfAnotherProgramStaysAsItIs) {
  run_sql("CREATE TABLE note(text)");
  const std::string before = read_file(file());
  for (const DatabaseUse use : {DatabaseUse::kRead, DatabaseUse::kWrite}) {
    EXPECT_THAT(problem_of([&] { History(file(), use); }),
                StartsWith(file() + ": is a database of another program"));
  }
  EXPECT_EQ(read_file(file()), before);
}

TEST_F(BadInputTest, ANewerSchemaStaysAsItIs) {
  add_nights(1, 1);
  run_sql("PRAGMA user_version = 2");
  const std::string before = read_file(file());
  for (const DatabaseUse use : {DatabaseUse::kRead, DatabaseUse::kWrite}) {
    EXPECT_THAT(problem_of([&] { History(file(), use); }),
                AllOf(StartsWith(file() + ": user_version: a newer fusegate wrote it"),
                      HasSubstr("update fusegate")));
  }
  EXPECT_EQ(read_file(file()), before);
}

TEST_F(BadInputTest, ACutFileIsDamagedAndStaysAsItIs) {
  add_nights(1, 5);
  std::filesystem::resize_file(file(), std::filesystem::file_size(file()) / 2);
  const std::string before = read_file(file());
  EXPECT_THAT(problem_of([&] { read(); }),
              AllOf(StartsWith(file() + ": is damaged ("), HasSubstr(".recover")));
  EXPECT_THAT(problem_of([&] { add_nights(6, 6); }), StartsWith(file() + ": is damaged ("));
  EXPECT_EQ(read_file(file()), before);
}

// Whatever page is lost, what reads it says so, or does not need it; nothing else happens.
TEST_F(BadInputTest, LostPagesAreNamedWhereTheyAreRead) {
  constexpr std::size_t kPage = 4096;
  add_nights(1, 3);
  const std::string whole = read_file(file());
  int named = 0;
  for (std::size_t start = 0; start < whole.size(); start += kPage) {
    std::string damaged = whole;
    damaged.replace(start, kPage, kPage, '\xa5');
    folder_.write("history.db", damaged);
    const std::string problem = problem_of([&] { read(); });
    if (problem != "none") {
      EXPECT_THAT(problem, AllOf(StartsWith(file() + ": "), HasSubstr("damaged")));
      ++named;
    }
  }
  EXPECT_GT(named, static_cast<int>(whole.size() / kPage) / 2);
}

TEST_F(BadInputTest, AListThatIsNoneIsDamage) {
  add_nights(1, 1);
  run_sql("UPDATE word SET text = '[' || id || ']' WHERE text LIKE '{%'");
  EXPECT_THAT(problem_of([&] { read(); }), HasSubstr("is damaged (a list in it is none)"));
}

// A file that may not grow: what an add began is taken back.
TEST_F(BadInputTest, ADiskThatIsFullLosesNothing) {
  add_nights(1, 2);
  const auto fills_the_disk = [&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{std::filesystem::file_size(file()) + 8192, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string problem = problem_of([&] { add_nights(3, 30); });
    return problem.find("is the disk full") == std::string::npos ? 1 : 0;
  };
  EXPECT_EQ(exit_code_of(start(fills_the_disk)), 0);
  const std::size_t kept = read().size();
  EXPECT_GE(kept, 2u);
  EXPECT_LT(kept, 30u);
  expect_whole_nights(kept);
  add_nights(1, 30);
  expect_whole_nights(30);
}

TEST_F(BadInputTest, ADatabaseThatMayNotGrowSaysThatTheDiskIsFull) {
  add_nights(1, 1);
  const Database database(file(), DatabaseUse::kWrite);
  database.run("PRAGMA max_page_count = 1");  // as many as it has
  EXPECT_THAT(problem_of([&] {
                Transaction transaction(database);
                const std::string text(1 << 20, 'x');
                Statement(database, "INSERT INTO word(text) VALUES (?)").with(text).run();
                transaction.commit();
              }),
              StartsWith(file() + ": the disk is full: nothing was added"));
  expect_whole_nights(1);
}

TEST_F(BadInputTest, SeveralThreadsAndProcessesWriteAtOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    children.push_back(start([&, i] {
      return problem_of([&] { add_nights(10 * i + 1, 10 * i + 10); }) == "none" ? 0 : 1;
    }));
  }
  std::thread same_nights([&] { add_nights(1, 10); });
  add_nights(31, 40);
  same_nights.join();
  for (const pid_t child : children) EXPECT_EQ(exit_code_of(child), 0);
  expect_whole_nights(40);
}

TEST_F(BadInputTest, AKilledWriterLosesNothingThatItHadAdded) {
  add_nights(0, 0);
  for (int round = 1; round <= 20; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const int first = static_cast<int>(read().size());
    const pid_t child = start([&]() -> int {
      for (int i = first;; ++i) {
        add_nights(i, i);
        if (write(ends[1], "+", 1) != 1) return 1;
      }
    });
    usleep(static_cast<useconds_t>(3000 + 1700 * round));
    kill(child, SIGKILL);
    exit_code_of(child);
    close(ends[1]);
    int added = 0;
    for (char one = 0; ::read(ends[0], &one, 1) == 1;) ++added;
    close(ends[0]);
    const std::size_t kept = read().size();
    EXPECT_GE(kept, static_cast<std::size_t>(first + added));
    EXPECT_LE(kept, static_cast<std::size_t>(first + added + 1));
    expect_whole_nights(kept);
  }
}

}  // namespace
}  // namespace fusegate::baselines
