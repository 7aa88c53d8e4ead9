/*
 * Stands between a service and its disk (LD_PRELOAD): makes writes and syncs of the log slow, lets a sync fail, and keeps a journal of
 * what a power cut would undo. Concerns only files of ORCHD_SHIM_DIR.
 *
 * ORCHD_SHIM_CONTROL is a file of four numbers, read again at every call:
 *     write delay in us, sync delay in ms, errno for a failing sync, ticket of that failure (each ticket is used once)
 * ORCHD_SHIM_JOURNAL, if set, gets one frame per event, in the order in which they happened:
 *     char kind, 7 bytes zero, u64 call, u64 inode, u64 offset, u64 length, and after a 'w' the `length` bytes that were overwritten
 *     'w' a write begins  'W' it has ended  's' a sync begins  'S' it has succeeded  'F' it has failed
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SYNC_STEP_MS 20

typedef ssize_t (*pwrite_fn)(int, const void *, size_t, off_t);
typedef int (*sync_fn)(int);

struct control {
  long write_delay_us, sync_delay_ms, sync_errno, ticket;
};

static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_long used_ticket;
static atomic_ulong calls;

static int concerns(int fd) {
  const char *dir = getenv("ORCHD_SHIM_DIR");
  char link[64], path[4096];
  if (!dir) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strncmp(path, dir, strlen(dir)) == 0 && path[strlen(dir)] == '/';
}

/* A segment in use: what was a spare and has lost that name, or was opened by its own. */
static int is_segment(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, "(deleted)") || strstr(path, "/wal-");
}

static struct control read_control(void) {
  struct control control = {0, 0, 0, 0};
  const char *path = getenv("ORCHD_SHIM_CONTROL");
  FILE *file = path ? fopen(path, "re") : NULL;
  if (!file) return control;
  if (fscanf(file, "%ld %ld %ld %ld", &control.write_delay_us, &control.sync_delay_ms, &control.sync_errno, &control.ticket) != 4)
    memset(&control, 0, sizeof control);
  fclose(file);
  return control;
}

static void pause_us(long us) {
  struct timespec rest = {us / 1000000, (us % 1000000) * 1000};
  while (us > 0 && nanosleep(&rest, &rest) == -1 && errno == EINTR) continue;
}

/* A disk that is fast again lets the sync that waits for it go on. */
static void wait_for_disk(long ms) {
  for (long waited = 0; waited < ms; waited += SYNC_STEP_MS) {
    if (read_control().sync_delay_ms == 0) return;
    pause_us((ms - waited < SYNC_STEP_MS ? ms - waited : SYNC_STEP_MS) * 1000);
  }
}

/* One write(2) per frame with O_APPEND: whole, in order, and with the system when the process is killed. */
static void note(char kind, uint64_t call, int fd, uint64_t offset, uint64_t length, const void *bytes) {
  static int journal = -2;
  pthread_mutex_lock(&journal_lock);
  if (journal == -2) {
    const char *path = getenv("ORCHD_SHIM_JOURNAL");
    journal = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  }
  struct stat status;
  if (journal >= 0 && fstat(fd, &status) == 0) {
    uint64_t head[5] = {(unsigned char)kind, call, status.st_ino, offset, length};
    size_t extra = bytes ? length : 0;
    char *frame = malloc(sizeof head + extra);
    memcpy(frame, head, sizeof head);
    if (extra) memcpy(frame + sizeof head, bytes, extra);
    if (write(journal, frame, sizeof head + extra) != (ssize_t)(sizeof head + extra)) abort();
    free(frame);
  }
  pthread_mutex_unlock(&journal_lock);
}

/* A descriptor whose every write is synced: the sync is made, or fails, like any other. */
static ssize_t synced(int fd, ssize_t written) {
  int flags = fcntl(fd, F_GETFL);
  if (written < 0 || flags < 0 || (flags & O_DSYNC) == 0) return written;
  return fdatasync(fd) == 0 ? written : -1;
}

static ssize_t shimmed_write(const char *name, int fd, const void *bytes, size_t length, off_t offset) {
  pwrite_fn real = (pwrite_fn)dlsym(RTLD_NEXT, name);
  if (!concerns(fd)) return real(fd, bytes, length, offset);
  if (is_segment(fd)) pause_us(read_control().write_delay_us);
  if (!getenv("ORCHD_SHIM_JOURNAL")) return synced(fd, real(fd, bytes, length, offset));
  uint64_t call = atomic_fetch_add(&calls, 1);
  char *before = calloc(1, length);
  ssize_t known = pread(fd, before, length, offset);
  (void)known;
  note('w', call, fd, (uint64_t)offset, length, before);
  free(before);
  ssize_t written = real(fd, bytes, length, offset);
  note('W', call, fd, 0, 0, NULL);
  return synced(fd, written);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) { return shimmed_write("pwrite", fd, bytes, length, offset); }
ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t offset) { return shimmed_write("pwrite64", fd, bytes, length, offset); }

int fdatasync(int fd) {
  sync_fn real = (sync_fn)dlsym(RTLD_NEXT, "fdatasync");
  if (!concerns(fd)) return real(fd);
  uint64_t call = atomic_fetch_add(&calls, 1);
  note('s', call, fd, 0, 0, NULL);
  if (is_segment(fd)) {
    struct control control = read_control();
    if (control.ticket > used_ticket) {
      used_ticket = control.ticket;
      note('F', call, fd, 0, 0, NULL);
      errno = (int)control.sync_errno;
      return -1;
    }
    wait_for_disk(control.sync_delay_ms);
  }
  int result = real(fd);
  note(result == 0 ? 'S' : 'F', call, fd, 0, 0, NULL);
  return result;
}
