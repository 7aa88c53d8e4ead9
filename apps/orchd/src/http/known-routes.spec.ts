import { describe, expect, it } from '@jest/globals';
import { KnownRoutes } from './known-routes.js';

function routes(): KnownRoutes {
  const known = new KnownRoutes();
  known.add('GET', '/jobs');
  known.add(['POST'], '/jobs');
  known.add('POST', '/jobs/batch');
  known.add('GET', '/jobs/:id');
  known.add('POST', '/jobs/:id/redrive');
  return known;
}

describe('the methods of an address', () => {
  it.each([
    ['/jobs', ['GET', 'POST']],
    ['/jobs?state=done', ['GET', 'POST']],
    ['/jobs/1', ['GET']],
    ['/jobs/1/redrive', ['POST']],
    ['/jobs/batch', ['GET', 'POST']],
  ])('%s are %j', (url, methods) => {
    expect(routes().allowed(url)).toEqual(methods);
  });

  it.each(['/', '/job', '/jobs/', '/jobs/1/', '/jobs/1/redrive/2', '//jobs', '/jobs/../jobs', ''])('%j are none', (url) => {
    expect(routes().allowed(url)).toEqual([]);
  });
});
