/** The routes as they were registered, to tell an unknown address from a wrong method. */
export class KnownRoutes {
  readonly #methods = new Map<string, Set<string>>();
  readonly #patterns: { readonly pattern: RegExp; readonly methods: ReadonlySet<string> }[] = [];

  /** @param url as Fastify writes it, with `:name` for a segment that varies */
  add(method: string | readonly string[], url: string): void {
    let methods = this.#methods.get(url);
    if (!methods) {
      methods = new Set();
      this.#methods.set(url, methods);
      this.#patterns.push({ pattern: new RegExp(`^${url.replace(/:[^/]+/g, '[^/]+')}$`), methods });
    }
    for (const name of [method].flat()) methods.add(name);
  }

  /** The methods that the path of this URL answers to, sorted; none for an unknown path. */
  allowed(url: string): string[] {
    const path = url.split('?', 1)[0] ?? '';
    const allowed = new Set(this.#patterns.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods]));
    return [...allowed].sort();
  }
}
