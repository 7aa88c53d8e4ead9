import { describe, expect, it } from '@jest/globals';
import { httpHosts } from '../../config/setting-parsers.js';
import { assertAllowed, guardedLookup, OutboundRefusal } from './outbound-rules.js';

const allow = (list: string, url: string) => () => assertAllowed(new URL(url), httpHosts(list));

describe('an outbound request', () => {
  it.each([
    ['example.org', 'https://example.org/x'],
    ['example.org', 'http://EXAMPLE.org./x'],
    ['example.org:8080', 'http://example.org:8080'],
    ['*.example.org', 'https://a.b.example.org'],
    ['[2001:db8::1]:81', 'http://[2001:DB8::1]:81/'],
    ['10.0.0.7', 'http://10.0.0.7/'],
    ['127.0.0.1:9', 'http://0x7f.1:9/'],
  ])('to a host of the list %s may go: %s', (list, url) => {
    expect(allow(list, url)).not.toThrow();
  });

  it.each([
    ['', 'https://example.org/'],
    ['example.org', 'https://example.org:8443/'],
    ['example.org', 'https://example.org.evil.test/'],
    ['example.org', 'https://example.org@evil.test/'],
    ['*.example.org', 'https://example.org/'],
    ['*.example.org', 'https://notexample.org/'],
    ['example.org', 'ftp://example.org/'],
    ['169.254.169.254', 'http://169.254.169.254/latest/meta-data'],
    ['169.254.169.254', 'http://2852039166/'],
    ['[::ffff:a9fe:a9fe]', 'http://[::ffff:169.254.169.254]/'],
    ['[fe80::1]', 'http://[fe80::1]/'],
    ['[fd00:ec2::254]', 'http://[fd00:ec2::254]/'],
    ['0.0.0.0', 'http://0.0.0.0/'],
  ])('is refused with the list %j: %s', (list, url) => {
    expect(allow(list, url)).toThrow(OutboundRefusal);
  });

  it('looks a name up where it is dialled, and finds this machine only by its own names', async () => {
    const lookup = (name: string) => new Promise((resolve) => guardedLookup(name, { all: true }, (error) => resolve(error)));
    expect(await lookup('localhost')).toBeNull();
    expect(await lookup('127.0.0.1')).toBeNull();
    expect(await lookup('169.254.169.254')).toBeInstanceOf(OutboundRefusal);
  });
});
