/**
 * `sent`: in flight. `acked`: must be there exactly once. `refused`: must never be there. `unknown`: 0 or 1 times, until a repetition
 * with the same key is acked.
 */
export type Standing = 'sent' | 'acked' | 'refused' | 'unknown';

/** One job that a client asked for, under a key that no other has. */
export interface Submission {
  readonly key: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Jobs of one batch have one number: they are there all or not at all. */
  readonly batch: number;
  standing: Standing;
  /** Set by the ack. */
  id: string | null;
}

/**
 * What a client knows of its jobs. Invariant: written before a request leaves and after its answer, so at any instant it names everything
 * that the service may have stored.
 */
export class Ledger {
  readonly #submissions = new Map<string, Submission>();
  readonly #acked: Submission[] = [];
  #batches = 0;
  #answers = 0;
  readonly #listeners = new Set<() => void>();

  /** @param name no two ledgers that are judged against one storage have the same */
  constructor(private readonly name: string) {}

  get submissions(): Iterable<Submission> {
    return this.#submissions.values();
  }

  /** In the order of their first ack. */
  get allAcked(): readonly Submission[] {
    return this.#acked;
  }

  /** Requests that are not in flight any more. */
  get answers(): number {
    return this.#answers;
  }

  get(key: string): Submission | undefined {
    return this.#submissions.get(key);
  }

  with(...standings: Standing[]): Submission[] {
    return [...this.#submissions.values()].filter(({ standing }) => standings.includes(standing));
  }

  /** To be called before the request leaves. */
  sent(bodies: readonly Readonly<Record<string, unknown>>[]): Submission[] {
    const batch = ++this.#batches;
    return bodies.map((body) => {
      const key = `${this.name}-${this.#submissions.size}`;
      const submission: Submission = { key, body, batch, standing: 'sent', id: null };
      this.#submissions.set(key, submission);
      return submission;
    });
  }

  acked(submissions: readonly Submission[], ids: readonly string[]): void {
    for (const [index, submission] of submissions.entries()) {
      if (submission.standing !== 'acked') this.#acked.push(submission);
      submission.standing = 'acked';
      submission.id = ids[index]!;
    }
    this.#answered();
  }

  /** A refusal of a repetition says nothing about the first request. */
  refused(submissions: readonly Submission[]): void {
    for (const submission of submissions) if (submission.standing === 'sent') submission.standing = 'refused';
    this.#answered();
  }

  unknown(submissions: readonly Submission[]): void {
    for (const submission of submissions) if (submission.standing === 'sent') submission.standing = 'unknown';
    this.#answered();
  }

  /** Resolves with the n-th answer from now on, or when `givenUp` resolves before. */
  async answered(n: number, givenUp: Promise<unknown>): Promise<void> {
    const target = this.#answers + n;
    let over = false;
    void givenUp.then(() => {
      over = true;
      this.#notify();
    });
    while (this.#answers < target && !over) await new Promise<void>((resolve) => this.#listeners.add(resolve));
  }

  #answered(): void {
    this.#answers++;
    this.#notify();
  }

  #notify(): void {
    for (const resolve of this.#listeners) resolve();
    this.#listeners.clear();
  }
}
