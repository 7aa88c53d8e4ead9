import { Injectable, Logger } from '@nestjs/common';

/** Stands for the client of a mail server. */
@Injectable()
export class Mailer {
  readonly #log = new Logger(Mailer.name);

  async send(to: string, subject: string): Promise<{ messageId: string }> {
    this.#log.log(`to ${to}: ${subject}`);
    return { messageId: `<${encodeURIComponent(to)}@mail.example.org>` };
  }
}
