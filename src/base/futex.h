// Sleeping until a word changes, without a mutex.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tamis {
namespace futex {

/// `at_most` null: for any time.
void wait(const void* word, std::uint32_t value, const std::chrono::nanoseconds* at_most);
void wake(const void* word);

}  // namespace futex

/// Sleeps while the word has this value. May return early: call it in a loop.
template <typename Word>
void sleep_while(const std::atomic<Word>& word, Word value) {
  static_assert(sizeof(std::atomic<Word>) == sizeof(std::uint32_t));
  futex::wait(&word, static_cast<std::uint32_t>(value), nullptr);
}
/// The same, at most for this time, which is not negative.
template <typename Word>
void sleep_while(const std::atomic<Word>& word, Word value, std::chrono::nanoseconds at_most) {
  static_assert(sizeof(std::atomic<Word>) == sizeof(std::uint32_t));
  futex::wait(&word, static_cast<std::uint32_t>(value), &at_most);
}
/// Wakes the thread that sleeps there, after the word was changed. Only the address is used: the word may be gone,
/// because its owner has seen the change and was not asleep any more.
template <typename Word>
void wake_sleeper(const std::atomic<Word>* word) {
  futex::wake(word);
}

}  // namespace tamis
