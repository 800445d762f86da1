/* editor OUT [SLEEP_S]: sleeps, then reads stdin to the end of the frame that has "stopReason" in it, as fast as it goes.
 * All that was read goes to OUT afterwards; a JSON report with wall time and latencies of @t= markers to stdout. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t latency[1000000];
static size_t latencies;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static double share(double part) { return latencies ? latency[(size_t)((latencies - 1) * part)] / 1e3 : 0; }

int main(int argc, char **argv) {
  size_t room = 1 << 26, held = 0, scanned = 0, next = 0;
  int stopped = 0;
  char *data = malloc(room);
  memset(data, 1, room);
  if (argc > 2) usleep(atof(argv[2]) * 1e6);
  uint64_t first = 0, last = 0;
  for (;;) {
    if (room - held < 65536) data = realloc(data, room *= 2);
    ssize_t got = read(0, data + held, 65536);
    if (got <= 0) break;
    last = now();
    if (!first) first = last;
    held += got;
    char *mark;
    while ((mark = memmem(data + scanned, held - scanned, "@t=", 3)) && mark + 23 <= data + held) {
      if (latencies < 1000000) latency[latencies++] = last - strtoull(mark + 3, 0, 10);
      scanned = mark + 23 - data;
    }
    if (!mark && held > 23 && scanned < held - 23) scanned = held - 23;
    size_t from = held > (size_t)got + 16 ? held - got - 16 : 0;
    stopped = stopped || memmem(data + from, held - from, "\"stopReason\"", 12);
    while (stopped && next <= held && (mark = memmem(data + next, held - next, "\r\n\r\n", 4)))
      next = mark + 4 - data + strtoul((char *)memmem(data + next, held - next, ": ", 2) + 2, 0, 10);
    if (stopped && next == held) break;
  }
  qsort(latency, latencies, sizeof *latency, compare);
  FILE *out = fopen(argv[1], "w");
  fwrite(data, 1, held, out);
  fclose(out);
  printf("{\"wall\":%.6f,\"marks\":%zu,\"p50_us\":%.1f,\"p99_us\":%.1f}\n", (last - first) / 1e9, latencies,
         share(0.5), share(0.99));
  return 0;
}
