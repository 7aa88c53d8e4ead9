import { DiscardJob, JobHandler, type Handler, type Job, type JobContext } from '@orchd/queue';
import { Mailer } from './mailer.js';

export interface Mail {
  readonly to: string;
  readonly subject: string;
}

@JobHandler('mail.send', { maxAttempts: 8 })
export class SendMail implements Handler<Mail> {
  constructor(private readonly mailer: Mailer) {}

  async handle({ payload }: Job<Mail>, ctx: JobContext) {
    if (!payload.to.includes('@')) throw new DiscardJob(`${payload.to} is no address`);
    ctx.log(`attempt ${ctx.attempt}`);
    return this.mailer.send(payload.to, payload.subject); // whatever it throws leads to another attempt
  }
}
