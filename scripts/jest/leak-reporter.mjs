// When the last test has run the process must end by itself. One that does not is failed, not waited for.
const GRACE_MS = 5000;

export default class LeakReporter {
  onRunComplete() {
    const timer = setTimeout(() => {
      console.error(`The tests are over, but the process is kept alive by: ${process.getActiveResourcesInfo().join(', ')}`);
      process.exit(1);
    }, GRACE_MS);
    timer.unref();
  }
}
