import type { Agent } from 'node:http';
import { call, type Answer } from './http-call.js';
import type { JobView, Refusal } from './job-view.js';
import type { Ledger, Submission } from './ledger.js';
import type { SeenJobs } from './seen-jobs.js';

/** What came of a submit. */
export interface Outcome {
  readonly submissions: readonly Submission[];
  /** Null when the connection broke. */
  readonly answer: Answer<Accepted & Refusal> | null;
}

interface Accepted {
  readonly id?: string;
  readonly ids?: readonly string[];
}

/** A client that keeps its ledger: written before each request and after each answer. */
export class LedgerClient {
  /** Answers that no well-behaved service gives to this client. */
  readonly surprises: string[] = [];

  constructor(
    private readonly port: number,
    readonly ledger: Ledger,
    readonly seen: SeenJobs,
    private readonly agent?: Agent,
  ) {}

  /** Submits one job; the key is the ledger's. */
  submit(body: Readonly<Record<string, unknown>>): Promise<Outcome> {
    return this.repeat(this.ledger.sent([body])[0]!);
  }

  /** Submits the same job again, or for the first time. */
  repeat(submission: Submission): Promise<Outcome> {
    return this.#post('/jobs', { ...submission.body, dedupe_key: submission.key }, [submission]);
  }

  submitBatch(bodies: readonly Readonly<Record<string, unknown>>[]): Promise<Outcome> {
    const submissions = this.ledger.sent(bodies);
    const jobs = submissions.map(({ body, key }) => ({ ...body, dedupe_key: key }));
    return this.#post('/jobs/batch', { jobs }, submissions);
  }

  /** Cancels an acknowledged job; the answer is as good as a look. */
  async cancel({ id }: Submission): Promise<void> {
    const askedAt = this.seen.asking();
    const answer = await this.#call<JobView>('DELETE', `/jobs/${id}`);
    if (answer?.status === 200 || answer?.status === 202) this.seen.shown(answer.body, askedAt);
    else if (answer?.status === 404) this.seen.notFound(id!);
  }

  async look({ id }: Submission): Promise<void> {
    const askedAt = this.seen.asking();
    const answer = await this.#call<JobView>('GET', `/jobs/${id}`);
    if (answer?.status === 200) this.seen.shown(answer.body, askedAt);
    else if (answer?.status === 404) this.seen.notFound(id!);
  }

  async lookAtPage(query: string): Promise<void> {
    const askedAt = this.seen.asking();
    const answer = await this.#call<{ jobs: JobView[] }>('GET', `/jobs?${query}`);
    if (answer?.status === 200) for (const job of answer.body.jobs) this.seen.shown(job, askedAt);
  }

  async #post(path: string, json: unknown, submissions: readonly Submission[]): Promise<Outcome> {
    let answer: Answer<Accepted & Refusal>;
    try {
      answer = await call<Accepted & Refusal>(this.port, 'POST', path, { json, agent: this.agent });
    } catch (error) {
      // Only a connection that was never made has certainly carried nothing.
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') this.ledger.refused(submissions);
      else this.ledger.unknown(submissions);
      return { submissions, answer: null };
    }
    const { status, body } = answer;
    if (status === 200 || status === 201) this.ledger.acked(submissions, body.ids ?? [body.id!]);
    else if (status === 503 && body.code !== 'outcome_unknown') this.ledger.refused(submissions);
    else {
      this.ledger.unknown(submissions);
      if (status !== 503) this.surprises.push(`POST ${path}: ${status} ${JSON.stringify(body)}`);
    }
    return { submissions, answer };
  }

  async #call<T>(method: string, path: string): Promise<Answer<T> | null> {
    try {
      const answer = await call<T>(this.port, method, path, { agent: this.agent });
      if (answer.status === 500) this.surprises.push(`${method} ${path}: ${JSON.stringify(answer.body)}`);
      return answer;
    } catch {
      return null;
    }
  }
}
