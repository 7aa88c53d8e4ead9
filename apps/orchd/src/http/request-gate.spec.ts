import { describe, expect, it } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServicePhase, type Phase } from '../life-cycle/service-phase.js';
import { KnownRoutes } from './known-routes.js';
import { RequestGate } from './request-gate.js';

interface Asked {
  readonly method?: string;
  readonly url?: string;
  readonly is404?: boolean;
  readonly headers?: Record<string, string>;
  readonly httpVersionMinor?: number;
}

function ask(at: Phase, { method = 'GET', url = '/jobs', is404 = false, headers = { host: 'x' }, httpVersionMinor = 1 }: Asked = {}) {
  const phase = new ServicePhase();
  phase.advanceTo(at);
  const routes = new KnownRoutes();
  routes.add(['GET', 'POST'], '/jobs');
  const raw = { shouldKeepAlive: true };
  const request = { method, url, is404, headers, raw: { httpVersionMinor }, routeOptions: { bodyLimit: 100 } } as unknown as FastifyRequest;
  const refusal = new RequestGate(phase, routes).refusal(request, { raw } as unknown as FastifyReply) as { code?: string } | null;
  return { code: refusal?.code ?? null, keptAlive: raw.shouldKeepAlive };
}

describe('a service that is starting', () => {
  it.each(['/healthz', '/readyz', '/readyz?verbose=1'])('answers %s', (url) => {
    expect(ask('starting', { url }).code).toBeNull();
  });

  it.each(['/jobs', '/stats', '/openapi.json', '/healthz/x', '/'])('refuses %s as starting', (url) => {
    expect(ask('starting', { url }).code).toBe('starting');
    expect(ask('starting', { url, is404: true }).code).toBe('starting');
  });
});

describe('a service that runs', () => {
  it('wants to be named by a request of HTTP/1.1, and lets one of HTTP/1.0 be', () => {
    expect(ask('running', { headers: {} }).code).toBe('malformed_request');
    expect(ask('running', { headers: {}, httpVersionMinor: 0 }).code).toBeNull();
  });

  it('answers and keeps the connection', () => {
    expect(ask('running', { method: 'POST' })).toEqual({ code: null, keptAlive: true });
  });

  it('tells a wrong method from an unknown address', () => {
    expect(ask('running', { method: 'PUT', is404: true }).code).toBe('method_not_allowed');
    expect(ask('running', { url: '/nope', is404: true }).code).toBe('not_found');
  });

  it.each([
    [{ 'content-encoding': 'gzip' }, 'unsupported_media_type'],
    [{ 'content-type': 'application/json; charset=utf-16' }, 'unsupported_media_type'],
    [{ 'content-type': 'application/json; charset="UTF-8"' }, null],
    [{ 'content-length': '101' }, 'payload_too_large'],
    [{ 'content-encoding': 'identity', 'content-length': '100' }, null],
  ])('with the header fields %j answers %s', (headers, code) => {
    expect(ask('running', { method: 'POST', headers: { host: 'x', ...headers } }).code).toBe(code);
  });
});

describe('a service that drains', () => {
  it('refuses what would add work, answers the rest, and keeps no connection', () => {
    expect(ask('draining', { method: 'POST' })).toEqual({ code: 'draining', keptAlive: false });
    expect(ask('draining', { method: 'DELETE' })).toEqual({ code: null, keptAlive: false });
    expect(ask('draining', { method: 'GET' })).toEqual({ code: null, keptAlive: false });
  });
});

describe('the phase of a service', () => {
  it('never goes back', () => {
    const phase = new ServicePhase();
    phase.advanceTo('draining');
    phase.advanceTo('running');
    expect(phase.current).toBe('draining');
  });
});
