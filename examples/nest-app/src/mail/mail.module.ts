import { Module } from '@nestjs/common';
import { MailService } from './mail.service.js';
import { Mailer } from './mailer.js';
import { SendMail } from './send-mail.handler.js';

/** Takes queue and workers from whoever imports it: the application, or `OrchdTestingModule` in a test. */
@Module({ providers: [Mailer, SendMail, MailService], exports: [MailService] })
export class MailModule {}
