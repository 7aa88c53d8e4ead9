import { parseRedisUrl } from './redis-url.js';

const PLAIN = { sentinelName: null, tls: false, username: null, password: null, db: 0 };

describe('parseRedisUrl', () => {
  it.each([
    ['redis://localhost', { ...PLAIN, seeds: [{ host: 'localhost', port: 6379 }] }],
    ['redis://10.0.0.1:7000/', { ...PLAIN, seeds: [{ host: '10.0.0.1', port: 7000 }] }],
    ['rediss://h:1/3', { ...PLAIN, tls: true, db: 3, seeds: [{ host: 'h', port: 1 }] }],
    ['redis://[::1]:7000', { ...PLAIN, seeds: [{ host: '::1', port: 7000 }] }],
    ['redis://:p%40ss@h', { ...PLAIN, password: 'p@ss', seeds: [{ host: 'h', port: 6379 }] }],
    ['redis://me:a:b@h', { ...PLAIN, username: 'me', password: 'a:b', seeds: [{ host: 'h', port: 6379 }] }],
    [
      'redis://a:7000,b,c:7002',
      {
        ...PLAIN,
        seeds: [
          { host: 'a', port: 7000 },
          { host: 'b', port: 6379 },
          { host: 'c', port: 7002 },
        ],
      },
    ],
    [
      'redis+sentinel://s1,s2:26380/main/2',
      {
        ...PLAIN,
        sentinelName: 'main',
        db: 2,
        seeds: [
          { host: 's1', port: 26_379 },
          { host: 's2', port: 26_380 },
        ],
      },
    ],
  ])('reads %s', (url, target) => {
    expect(parseRedisUrl(url)).toEqual(target);
  });

  it.each([
    '',
    'http://h',
    'redis:h',
    'redis://',
    'redis://h:0',
    'redis://h:70000',
    'redis://h:x',
    'redis://a,,b',
    'redis://h/x',
    'redis://h/1/2',
  ])('refuses %j', (url) => {
    expect(() => parseRedisUrl(url)).toThrow(expect.objectContaining({ code: 'invalid_argument', field: 'redisUrl' }));
  });

  it('refuses Sentinels without the name of their master', () => {
    expect(() => parseRedisUrl('redis+sentinel://h')).toThrow(expect.objectContaining({ field: 'redisUrl' }));
  });

  it('never shows the password', () => {
    for (const url of ['redis://:s3cret@h:x', 'redis://:s3cret%@h', 'http://:s3cret@h']) {
      try {
        parseRedisUrl(url);
      } catch (error) {
        expect(String(error)).not.toContain('s3cret');
      }
    }
  });
});
