// Says when it begins, which is its last sign of life.
export function handle(job, ctx) {
  const [seconds, nanoseconds] = process.hrtime();
  ctx.log(String(seconds * 1000 + nanoseconds / 1e6));
  for (;;);
}
