/* Loaded before libc into a process: at each sync of a crawl's database or of its log, remembers what a power loss
 * right afterwards would leave. $WEBLOOM_SYNCED/lengths gets a line with the lengths of both files; a copy of the file
 * that was synced replaces $WEBLOOM_SYNCED/webloom.sqlite or webloom.sqlite-wal. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long length(const char *path) {
    struct stat file;
    return stat(path, &file) == 0 ? (long)file.st_size : 0;
}

static void copy(const char *from, const char *folder, const char *name) {
    char work[PATH_MAX], to[PATH_MAX], bytes[65536];
    snprintf(work, sizeof work, "%s/work", folder);
    snprintf(to, sizeof to, "%s/%s", folder, name);
    int in = open(from, O_RDONLY), out = open(work, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (ssize_t got; in >= 0 && out >= 0 && (got = read(in, bytes, sizeof bytes)) > 0;)
        if (write(out, bytes, (size_t)got) != got) abort();
    close(in);
    close(out);
    rename(work, to);
}

static void synced(int fd) {
    const char *folder = getenv("WEBLOOM_SYNCED");
    char link[64], path[PATH_MAX], database[PATH_MAX], wal[PATH_MAX], log[PATH_MAX], line[128];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = folder ? readlink(link, path, sizeof path - 8) : -1;
    if (size <= 0) return;
    path[size] = 0;
    const char *name = strrchr(path, '/');
    if (!name || (strcmp(name, "/webloom.sqlite") && strcmp(name, "/webloom.sqlite-wal"))) return;
    copy(path, folder, name + 1);
    snprintf(database, sizeof database, "%.*s/webloom.sqlite", (int)(name - path), path);
    snprintf(wal, sizeof wal, "%.*s/webloom.sqlite-wal", (int)(name - path), path);
    snprintf(log, sizeof log, "%s/lengths", folder);
    int written = snprintf(line, sizeof line, "%s %ld %ld\n", name + 1, length(database), length(wal));
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (out < 0 || write(out, line, (size_t)written) != written) abort();
    close(out);
}

int fsync(int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    int result = real(fd);
    if (result == 0) synced(fd);
    return result;
}

int fdatasync(int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    int result = real(fd);
    if (result == 0) synced(fd);
    return result;
}
