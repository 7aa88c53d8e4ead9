import { Injectable } from '@nestjs/common';
import { QueueService, type Job } from '@orchd/queue';
import type { Mail } from './send-mail.handler.js';

const REMINDER_AFTER_MS = 3 * 86_400_000;

@Injectable()
export class MailService {
  constructor(private readonly queue: QueueService) {}

  /** Resolves with the job's id when the mail is sure to be sent: the job is durable. */
  async welcome(to: string): Promise<string> {
    const { id } = await this.queue.enqueue<Mail>({ type: 'mail.send', payload: { to, subject: 'Welcome' } });
    return id;
  }

  /** At most one reminder waits for each address. */
  async remindLater(to: string): Promise<string> {
    const payload = { to, subject: 'Are you still there?' };
    const { id } = await this.queue.enqueue<Mail>({
      type: 'mail.send',
      payload,
      delayMs: REMINDER_AFTER_MS,
      dedupeKey: `reminder:${to}`,
    });
    return id;
  }

  find(id: string): Promise<Job<Mail> | null> {
    return this.queue.get<Mail>(id);
  }
}
