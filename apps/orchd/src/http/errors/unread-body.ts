import type { FastifyReply, FastifyRequest } from 'fastify';

/** Less than this has arrived, or will, before the answer leaves. */
const SMALL_BODY = 64 * 1024;

/**
 * For an answer that is given before its request was read. Closing a connection with bytes unread resets it, and the client, still sending,
 * would meet the reset before the answer. So the connection is kept; Node reads the rest and throws it away, for at most the request
 * time-out; and where the connection was to be closed, it is closed then.
 */
export function answerBeforeReading({ raw, headers }: FastifyRequest, reply: FastifyReply): void {
  const wantsClose = !reply.raw.shouldKeepAlive;
  const large = headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > SMALL_BODY;
  if (wantsClose && (raw.complete || !large)) return;
  // Fastify wants a connection closed after every body it refused.
  if (reply.hasHeader('connection')) reply.removeHeader('connection');
  reply.raw.shouldKeepAlive = true;
  if (wantsClose) raw.once('end', () => raw.socket.end());
}
