/* relay: lines in, Content-Length frames out, nothing else: the least that any bridge must do. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put(const char *data, size_t size) {
  while (size) {
    ssize_t done = write(1, data, size);
    if (done < 0) exit(3);
    data += done;
    size -= done;
  }
}

int main(void) {
  size_t room = 1 << 20, held = 0, out_room = 1 << 21;
  char *in = malloc(room), *out = malloc(out_room);
  for (;;) {
    if (held == room) in = realloc(in, room *= 2);
    ssize_t got = read(0, in + held, room - held);
    if (got <= 0) return 0;
    char *line = in, *from = in + held, *end;
    held += got;
    size_t size = 0;
    while ((end = memchr(from > line ? from : line, '\n', in + held - (from > line ? from : line)))) {
      size_t length = end - line;
      if (size + length + 64 > out_room) out = realloc(out, out_room = size + length + (1 << 20));
      size += sprintf(out + size, "Content-Length: %zu\r\n\r\n", length);
      memcpy(out + size, line, length);
      size += length;
      line = end + 1;
    }
    put(out, size);
    held = in + held - line;
    memmove(in, line, held);
  }
}
