/** Where the service is in its life. It goes through these once, in this order; a phase may be skipped. */
const PHASES = ['starting', 'running', 'draining'] as const;
export type Phase = (typeof PHASES)[number];

export class ServicePhase {
  #current: Phase = 'starting';

  get current(): Phase {
    return this.#current;
  }

  /** Never goes back: a replay that ends after a signal does not make a draining service run. */
  advanceTo(next: Phase): void {
    if (PHASES.indexOf(next) > PHASES.indexOf(this.#current)) this.#current = next;
  }
}
