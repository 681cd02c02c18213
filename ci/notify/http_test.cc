#include "ci/notify/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "baselines/io/error.h"

namespace fusegate::ci {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string problem_of_url(const std::string& url) {
  try {
    host_of(url, "ADDRESS");
  } catch (const baselines::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(HostOfUrl, IsWhatAMessageMayName) {
  EXPECT_EQ(host_of("https://hooks.slack.com/services/T/B/secret", ""), "hooks.slack.com");
  EXPECT_EQ(host_of("https://me:secret@ghe.example:8443/api/v3?key=secret", ""), "ghe.example");
  EXPECT_EQ(host_of("https://a@b@c#secret", ""), "c");
  EXPECT_EQ(host_of("http://127.0.0.1:8000/x", ""), "127.0.0.1");
  EXPECT_EQ(host_of("http://[::1]:8000/x", ""), "[::1]");
}

TEST(HostOfUrl, RefusesWhatWouldSendASecretInClearText) {
  EXPECT_THAT(problem_of_url("http://example.org/secret"),
              AllOf(HasSubstr("ADDRESS: must begin with https://"), Not(HasSubstr("secret"))));
  EXPECT_THAT(problem_of_url("http://127.0.0.1.example.org/"), HasSubstr("must begin"));
  EXPECT_THAT(problem_of_url("file:///etc/secret"), Not(HasSubstr("secret")));
  EXPECT_THAT(problem_of_url("https://example.org/\nproxy = secret"),
              AllOf(HasSubstr("has blanks"), Not(HasSubstr("secret"))));
  EXPECT_THAT(problem_of_url("https:///secret"),
              AllOf(HasSubstr("names no host"), Not(HasSubstr("secret"))));
}

TEST(SecretOfVariable, IsThereAndHasNoLineBreak) {
  constexpr const char* kVariable = "FUSEGATE_TEST_SECRET";
  setenv(kVariable, "abc", 1);
  EXPECT_EQ(secret_of(kVariable), "abc");
  for (const char* odd : {"", "a b", "hunter2\nheader: x", "\xc3\xa4"}) {
    setenv(kVariable, odd, 1);
    try {
      secret_of(kVariable);
      ADD_FAILURE() << odd;
    } catch (const baselines::InputError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr(kVariable), Not(HasSubstr("hunter2"))));
    }
  }
  unsetenv(kVariable);
}

}  // namespace
}  // namespace fusegate::ci
