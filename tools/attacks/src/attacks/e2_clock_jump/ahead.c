/* Preloaded into one process: its wall clock is ahead by the seconds in the file that HOSTILE_CLOCK_AHEAD names. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    const char *path = getenv("HOSTILE_CLOCK_AHEAD");
    if (result != 0 || path == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
        return result;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return result;
    char text[24] = {0};
    if (read(file, text, sizeof text - 1) > 0)
        now->tv_sec += strtol(text, NULL, 10);
    close(file);
    return result;
}
