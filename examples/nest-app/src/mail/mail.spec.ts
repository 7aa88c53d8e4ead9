import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { OrchdTesting, OrchdTestingModule } from '@orchd/queue/testing';
import { MailModule } from './mail.module.js';
import { MailService } from './mail.service.js';
import { Mailer } from './mailer.js';

/** A mail server that is down as often as the test wants. */
class FakeMailer {
  readonly sent: string[] = [];
  failures = 0;

  async send(to: string, subject: string) {
    if (this.failures-- > 0) throw new Error('the mail server is down');
    this.sent.push(`${to}: ${subject}`);
    return { messageId: '1' };
  }
}

describe('mail', () => {
  let app: TestingModule;
  let mail: MailService;
  let mailer: FakeMailer;
  let orchd: OrchdTesting;

  beforeEach(async () => {
    mailer = new FakeMailer();
    const builder = Test.createTestingModule({ imports: [OrchdTestingModule.forRoot(), MailModule] });
    app = await builder.overrideProvider(Mailer).useValue(mailer).compile();
    await app.init();
    mail = app.get(MailService);
    orchd = app.get(OrchdTesting);
  });
  afterEach(() => app.close());

  it('is sent', async () => {
    const job = await orchd.waitFor(await mail.welcome('ada@example.org'));
    expect(job).toMatchObject({ state: 'done', result: { messageId: '1' }, log: ['attempt 1'] });
    expect(mailer.sent).toEqual(['ada@example.org: Welcome']);
  });

  it('is sent when the mail server is back, without waiting for the time that takes', async () => {
    mailer.failures = 5;
    const start = orchd.clock.wallMs();
    const job = await orchd.waitFor(await mail.welcome('ada@example.org'));
    expect(job).toMatchObject({ state: 'done', attempts: 5, starts: 6 });
    expect(orchd.clock.wallMs() - start).toBe(10 + 20 + 40 + 80 + 160);
  });

  it('is given up at once when there is no such address', async () => {
    expect(await orchd.waitFor(await mail.welcome('ada'))).toMatchObject({ state: 'dead', error: { code: 'discarded' } });
  });

  it('reminds once, after three days', async () => {
    const ids = [await mail.remindLater('ada@example.org'), await mail.remindLater('ada@example.org')];
    expect(new Set(ids).size).toBe(1);
    expect(await orchd.drain()).toMatchObject({ delayed: 1, done: 0 });

    orchd.clock.advance(3 * 86_400_000);
    expect(await orchd.drain()).toMatchObject({ delayed: 0, done: 1 });
    expect(mailer.sent).toEqual(['ada@example.org: Are you still there?']);
  });

  it('is all worked off in the end', async () => {
    mailer.failures = 3;
    for (const name of ['ada', 'bob', 'eve']) await mail.remindLater(`${name}@example.org`);
    expect(await orchd.drain({ delayed: true })).toMatchObject({ ready: 0, delayed: 0, done: 3 });
  });
});
