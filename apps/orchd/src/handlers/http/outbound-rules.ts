import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { HttpHost } from '../../config/settings.js';

/** Why a request is not made. Trying again would not help. */
export class OutboundRefusal extends Error {
  override readonly name = 'OutboundRefusal';
}

/** Link-local, where clouds keep the keys of a machine, their other addresses for that, and what is no host at all. Never, whatever is allowed. */
const NEVER = new BlockList();
for (const [net, prefix, family] of [
  ['169.254.0.0', 16, 'ipv4'],
  ['100.100.100.200', 32, 'ipv4'],
  ['0.0.0.0', 8, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['fe80::', 10, 'ipv6'],
  ['fd00:ec2::254', 128, 'ipv6'],
  ['::', 128, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
  ['64:ff9b::a9fe:0', 112, 'ipv6'],
] as const) {
  NEVER.addSubnet(net, prefix, family);
}
/** Only for who names it: a name of the outside world must not lead to this machine. */
const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Throws {@link OutboundRefusal} unless the URL is http or https and its host and port are allowed. */
export function assertAllowed(url: URL, allowed: readonly HttpHost[]): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutboundRefusal(`${url.protocol} is neither http: nor https:`);
  const host = bareHost(url);
  const port = url.port === '' ? null : Number(url.port);
  if (!allowed.some((entry) => entry.port === port && matches(entry.host, host))) {
    throw new OutboundRefusal(`${url.host} is not among the hosts of --http-allow`);
  }
  if (isIP(host) !== 0) assertAddress(host, host);
}

/**
 * The lookup of a connection: what it hands on is what is dialled, so a name cannot lead to one address when it is looked at and to another
 * when it is called.
 */
export function guardedLookup(hostname: string, options: LookupOptions, done: (...args: unknown[]) => void): void {
  systemLookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error) return done(error);
    try {
      for (const { address } of addresses) assertAddress(hostname, address);
    } catch (refusal) {
      return done(refusal);
    }
    if (options.all) done(null, addresses);
    else done(null, addresses[0]!.address, addresses[0]!.family);
  });
}

function assertAddress(host: string, address: string): void {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  if (NEVER.check(address, family)) throw new OutboundRefusal(`${host} is at ${address}, where no request may go`);
  const namesItself = host === 'localhost' || isIP(host) !== 0;
  if (LOOPBACK.check(address, family) && !namesItself) throw new OutboundRefusal(`${host} is at ${address}, which is this machine`);
}

function matches(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1 : host === pattern;
}

/** Without the brackets of an IPv6 address and the dot at the end of a full name. */
function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/[.]$/, '');
}
