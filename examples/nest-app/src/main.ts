// node dist/main.js send ADDRESS: sends a mail and shows its job.  node dist/main.js show ID: shows a job, also after a restart.
import { NestFactory } from '@nestjs/core';
import { setTimeout } from 'node:timers/promises';
import { AppModule } from './app.module.js';
import { MailService } from './mail/mail.service.js';

const POLL_MS = 10;

const [command, argument = ''] = process.argv.slice(2);
const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
const mail = app.get(MailService);

if (command === 'send') await show(await mail.welcome(argument), true);
else if (command === 'show') await show(argument, false);
else console.error('usage: node dist/main.js send ADDRESS | show ID');
await app.close();

async function show(id: string, untilFinished: boolean): Promise<void> {
  let job = await mail.find(id);
  while (untilFinished && job?.finishedAt === null) {
    await setTimeout(POLL_MS);
    job = await mail.find(id);
  }
  console.log(JSON.stringify(job));
}
