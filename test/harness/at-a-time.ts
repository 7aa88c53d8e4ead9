/** Calls for each item, so many at a time: thousands of connections at once are a test of the system's backlog, not of the service. */
export async function atATime<T>(count: number, items: Iterable<T>, call: (item: T) => Promise<unknown>): Promise<void> {
  const rest = items[Symbol.iterator]();
  const caller = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) await call(next.value);
  };
  await Promise.all(Array.from({ length: count }, caller));
}
