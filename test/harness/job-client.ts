import { eventually } from './eventually.js';
import type { Answer } from './http-call.js';
import type { JobState, JobView, StatsView } from './job-view.js';
import type { ServiceProcess } from './service-process.js';

/** What tests do with jobs all the time. An unexpected status throws, with the answer. */
export class JobClient {
  constructor(private readonly service: ServiceProcess) {}

  /** Resolves with the id of the new job. */
  async accepted(request: object): Promise<string> {
    return expectStatus(201, await this.service.post<JobView>('/jobs', request)).id;
  }

  async get(id: string): Promise<JobView> {
    return expectStatus(200, await this.service.call<JobView>('GET', `/jobs/${id}`));
  }

  /** Resolves with the job when it is in this state. */
  reached(id: string, state: JobState): Promise<JobView> {
    return eventually(`job ${id} is ${state}`, async () => {
      const job = await this.get(id);
      return job.state === state && job;
    });
  }

  async stats(): Promise<StatsView> {
    return expectStatus(200, await this.service.call<StatsView>('GET', '/stats'));
  }
}

function expectStatus<T>(status: number, answer: Answer<T>): T {
  if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
