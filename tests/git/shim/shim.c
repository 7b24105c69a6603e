/* Kills the whole process group, or reports a full disk, at the n-th state-changing call.
 *
 * Loaded by LD_PRELOAD into mdmemory and every git that it starts. Only calls that concern files
 * below SHIM_ROOT count. SHIM_COUNTER names a file of 8 bytes that all processes share; SHIM_AT is
 * the call to act at (0: only count); SHIM_ACT is "kill" or "full".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t *counter;
static uint64_t at;
static int full;
static const char *root;

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("SHIM_COUNTER");
    root = getenv("SHIM_ROOT");
    if (!file || !root) return;
    int (*open_)(const char *, int, ...) = next("open");
    int fd = open_(file, O_RDWR);
    if (fd < 0) return;
    void *map = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED) return;
    counter = map;
    at = strtoull(getenv("SHIM_AT") ? getenv("SHIM_AT") : "0", NULL, 10);
    full = getenv("SHIM_ACT") && !strcmp(getenv("SHIM_ACT"), "full");
}

/* Whether a path given to a call, relative to dirfd or to the working folder, is below the root. */
static int below(int dirfd, const char *path) {
    char base[PATH_MAX], whole[2 * PATH_MAX + 2];
    if (!path) return 0;
    if (path[0] == '/') return !strncmp(path, root, strlen(root));
    if (dirfd == AT_FDCWD) {
        if (!getcwd(base, sizeof base)) return 0;
    } else {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
        ssize_t size = readlink(link, base, sizeof base - 1);
        if (size < 0) return 0;
        base[size] = 0;
    }
    snprintf(whole, sizeof whole, "%s/%s", base, path);
    return !strncmp(whole, root, strlen(root));
}

static int below_fd(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return !strncmp(path, root, strlen(root));
}

/* Counts one call; true when it must fail for want of space. Does not return when it must die. */
static int struck(int counts) {
    if (!counter || !counts) return 0;
    uint64_t now = __atomic_add_fetch(counter, 1, __ATOMIC_SEQ_CST);
    if (!at || now < at) return 0;
    if (full) { /* the disk stays full */
        errno = ENOSPC;
        return 1;
    }
    kill(0, SIGKILL);
    for (;;) pause();
}

#define WRITES(flags) ((flags) & (O_CREAT | O_TRUNC))

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, int);
    va_end(rest);
    int (*real)(const char *, int, ...) = next("open");
    if (counter && WRITES(flags) && struck(below(AT_FDCWD, path))) return -1;
    return real(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, int);
    va_end(rest);
    int (*real)(const char *, int, ...) = next("open64");
    if (counter && WRITES(flags) && struck(below(AT_FDCWD, path))) return -1;
    return real(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, int);
    va_end(rest);
    int (*real)(int, const char *, int, ...) = next("openat");
    if (counter && WRITES(flags) && struck(below(dir, path))) return -1;
    return real(dir, path, flags, mode);
}

ssize_t write(int fd, const void *data, size_t size) {
    ssize_t (*real)(int, const void *, size_t) = next("write");
    if (counter && fd > 2 && struck(below_fd(fd))) return -1;
    return real(fd, data, size);
}

int fsync(int fd) {
    int (*real)(int) = next("fsync");
    if (counter && struck(!full && below_fd(fd))) return -1;
    return real(fd);
}

int rename(const char *from, const char *to) {
    int (*real)(const char *, const char *) = next("rename");
    if (counter && struck(below(AT_FDCWD, to))) return -1;
    return real(from, to);
}

int renameat(int one, const char *from, int other, const char *to) {
    int (*real)(int, const char *, int, const char *) = next("renameat");
    if (counter && struck(below(other, to))) return -1;
    return real(one, from, other, to);
}

int renameat2(int one, const char *from, int other, const char *to, unsigned flags) {
    int (*real)(int, const char *, int, const char *, unsigned) = next("renameat2");
    if (counter && struck(below(other, to))) return -1;
    return real(one, from, other, to, flags);
}

int link(const char *from, const char *to) {
    int (*real)(const char *, const char *) = next("link");
    if (counter && struck(below(AT_FDCWD, to))) return -1;
    return real(from, to);
}

int linkat(int one, const char *from, int other, const char *to, int flags) {
    int (*real)(int, const char *, int, const char *, int) = next("linkat");
    if (counter && struck(below(other, to))) return -1;
    return real(one, from, other, to, flags);
}

/* Removing needs no space: it can be interrupted, not refused. */
int unlink(const char *path) {
    int (*real)(const char *) = next("unlink");
    if (counter && !full) struck(below(AT_FDCWD, path));
    return real(path);
}

int unlinkat(int dir, const char *path, int flags) {
    int (*real)(int, const char *, int) = next("unlinkat");
    if (counter && !full) struck(below(dir, path));
    return real(dir, path, flags);
}

int mkdir(const char *path, mode_t mode) {
    int (*real)(const char *, mode_t) = next("mkdir");
    if (counter && struck(below(AT_FDCWD, path))) return -1;
    return real(path, mode);
}

int ftruncate(int fd, off_t size) {
    int (*real)(int, off_t) = next("ftruncate");
    if (counter && struck(!full && below_fd(fd))) return -1;
    return real(fd, size);
}
