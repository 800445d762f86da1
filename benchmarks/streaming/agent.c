/* agent MODE N ARG: an ACP agent that only streams. It answers initialize, session/new and session/prompt; each
 * prompt is answered by the stream of its mode, then by stopReason end_turn.
 *   small N 0     N agent_message_chunk lines as fast as they go, 10 to 200 bytes of text each, marker @s=NUMBER;
 *   paced N US    one chunk every US microseconds, marker @t=NANOSECONDS (CLOCK_MONOTONIC at writing)
 *   flood 0 0     chunks without end until session/cancel; a second thread notes when that came
 *   quiet 0 0     nothing until session/cancel
 * The text that was sent goes to $SENT (small, paced), the arrival of session/cancel in nanoseconds to $CANCELLED.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HEAD                                                                                              \
  "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\",\"update\":{"     \
  "\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\""
#define TAIL "\"}}}}\n"

static const char *mode;
static long count, pause_us;
static volatile int cancelled;
static uint32_t seed = 12345;

/* each word as JSON and as the text it stands for */
static const char *words[][2] = {
    {"the ", "the "},           {"function ", "function "}, {"return ", "return "},
    {"value\\n", "value\n"},    {"let x = ", "let x = "},   {"caf\xc3\xa9 ", "caf\xc3\xa9 "},
    {"\\\"quoted\\\" ", "\"quoted\" "}, {"if (a < b) ", "if (a < b) "}, {"{ }\\n", "{ }\n"},
    {"\xe2\x9c\x93 ", "\xe2\x9c\x93 "}, {"async ", "async "},   {"0.125 ", "0.125 "}};

static uint32_t next(void) { return (seed = seed * 1664525u + 1013904223u) >> 8; }

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void put(const char *data, size_t size) {
  while (size) {
    ssize_t done = write(1, data, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) exit(3);
    data += done;
    size -= done;
  }
}

/* one chunk line at `line`; its text is appended to `text`; returns the line's length */
static size_t chunk(char *line, const char *marker, char *text, size_t *text_size) {
  size_t size = sprintf(line, HEAD "%s", marker), wanted = 10 + next() % 180, got = 0;
  memcpy(text + *text_size, marker, strlen(marker));
  *text_size += strlen(marker);
  while (got < wanted) {
    const char **word = words[next() % 12];
    size_t length = strlen(word[0]), plain = strlen(word[1]);
    memcpy(line + size, word[0], length);
    memcpy(text + *text_size, word[1], plain);
    size += length;
    got += length;
    *text_size += plain;
  }
  memcpy(line + size, TAIL, strlen(TAIL));
  return size + strlen(TAIL);
}

static void note(const char *variable, const char *data, size_t size) {
  const char *path = getenv(variable);
  if (!path) return;
  char part[4096];
  snprintf(part, sizeof part, "%s.part", path);
  FILE *file = fopen(part, "w");
  fwrite(data, 1, size, file);
  fclose(file);
  rename(part, path);
}

static void small(void) {
  char *lines = malloc(count * 520 + 4096), *text = malloc(count * 260 + 4096), marker[32];
  size_t size = 0, text_size = 0;
  for (long i = 0; i < count; i++) {
    sprintf(marker, "@s=%010ld;", i);
    size += chunk(lines + size, marker, text, &text_size);
  }
  note("SENT", text, text_size);
  for (size_t at = 0; at < size; at += 65536) put(lines + at, size - at < 65536 ? size - at : 65536);
  free(lines);
  free(text);
}

static void paced(void) {
  char line[1024], marker[32], *text = malloc(count * 260 + 4096);
  size_t text_size = 0;
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  for (long i = 0; i < count; i++) {
    at.tv_nsec += pause_us * 1000;
    while (at.tv_nsec >= 1000000000) at.tv_nsec -= 1000000000, at.tv_sec++;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0);
    sprintf(marker, "@t=%020llu;", (unsigned long long)now());
    put(line, chunk(line, marker, text, &text_size));
  }
  note("SENT", text, text_size);
  free(text);
}

static void flood(void) {
  static char lines[65536];
  char text[65536];
  size_t size = 0, text_size = 0;
  while (size < 60000) size += chunk(lines + size, "", text, &text_size);
  while (!cancelled) put(lines, size);
}

static void *turn(void *argument) {
  char answer[128];
  if (!strcmp(mode, "small")) small();
  if (!strcmp(mode, "paced")) paced();
  if (!strcmp(mode, "flood")) flood();
  while (!strcmp(mode, "quiet") && !cancelled) usleep(500);
  put(answer, sprintf(answer, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"stopReason\":\"%s\"}}\n",
                      (long)argument, cancelled ? "cancelled" : "end_turn"));
  return 0;
}

static void handle(const char *line) {
  char answer[512];
  const char *id = strstr(line, "\"id\":");
  long number = id ? atol(id + 5) : 0;
  if (strstr(line, "\"initialize\""))
    put(answer, sprintf(answer, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"protocolVersion\":1}}\n", number));
  else if (strstr(line, "\"session/new\""))
    put(answer, sprintf(answer, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"sessionId\":\"s1\"}}\n", number));
  else if (strstr(line, "\"session/prompt\"")) {
    pthread_t thread;
    cancelled = 0;
    pthread_create(&thread, 0, turn, (void *)number);
    pthread_detach(thread);
  } else if (strstr(line, "\"session/cancel\"")) {
    note("CANCELLED", answer, sprintf(answer, "%llu", (unsigned long long)now()));
    cancelled = 1;
  }
}

int main(int argc, char **argv) {
  mode = argc > 1 ? argv[1] : "small";
  count = argc > 2 ? atol(argv[2]) : 0;
  pause_us = argc > 3 ? atol(argv[3]) : 0;
  char *line = 0;
  size_t room = 0;
  while (getline(&line, &room, stdin) > 0) handle(line);
  return 0;
}
