import { CallWindow } from './call-window.js';
import { Lane, MAX_WEIGHT } from './lane.js';

interface Call {
  readonly ops: readonly number[];
  end(error?: Error): void;
}

/** Lanes of numbers whose calls end when the test says so. */
class Calls {
  readonly sent: Call[] = [];
  synced = false;
  /** Called when an answer is read. */
  reading = (): void => undefined;
  readonly #window = new CallWindow(() => this.synced);
  readonly lane = this.makeLane();

  makeLane(): Lane<number, string> {
    return new Lane({
      window: this.#window,
      weigh: (op) => op,
      send: (ops) =>
        new Promise((resolve, reject) => {
          const read = (): string[] => {
            this.reading();
            return ops.map(String);
          };
          this.sent.push({ ops, end: (error) => (error ? reject(error) : resolve(read)) });
        }),
    });
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('Lane', () => {
  it('sends what arrives in one turn as one call, in order, and answers each', async () => {
    const { lane, sent } = new Calls();
    const replies = [1, 2, 3].map((op) => lane.push(op));
    await Promise.resolve();
    expect(sent).toHaveLength(0);
    await turn();
    expect(sent.map(({ ops }) => ops)).toEqual([[1, 2, 3]]);
    sent[0]!.end();
    expect(await Promise.all(replies)).toEqual(['1', '2', '3']);
  });

  it('makes two calls of many, so that one is answered while the other is carried out', async () => {
    const { lane, sent } = new Calls();
    for (let op = 1; op <= 9; op++) void lane.push(op);
    await turn();
    expect(sent.map(({ ops }) => ops)).toEqual([
      [1, 2, 3, 4, 5],
      [6, 7, 8, 9],
    ]);
    void lane.push(10);
    sent[0]!.end();
    await turn();
    expect(sent[2]!.ops).toEqual([10]);
  });

  it('makes one call of many where each is synced', async () => {
    const calls = new Calls();
    calls.synced = true;
    for (let op = 1; op <= 9; op++) void calls.lane.push(op);
    await turn();
    expect(calls.sent.map(({ ops }) => ops)).toEqual([[1, 2, 3, 4, 5, 6, 7, 8, 9]]);
  });

  it('has at most two calls on their way; what comes meanwhile goes together with the next', async () => {
    const { lane, sent } = new Calls();
    for (const op of [1, 2, 3, 4]) {
      void lane.push(op);
      await turn();
    }
    expect(sent.map(({ ops }) => ops)).toEqual([[1], [2]]);
    sent[0]!.end();
    await turn();
    expect(sent.map(({ ops }) => ops)).toEqual([[1], [2], [3, 4]]);
  });

  it('shares the room for calls with other lanes, in the order of asking', async () => {
    const calls = new Calls();
    const { lane, sent } = calls;
    const other = calls.makeLane();
    for (const op of [1, 2, 3]) {
      void lane.push(op);
      await turn();
    }
    void other.push(4);
    await turn();
    void lane.push(5);
    await turn();
    expect(sent.map(({ ops }) => ops)).toEqual([[1], [2]]);
    sent[0]!.end();
    sent[1]!.end();
    await turn();
    expect(sent.map(({ ops }) => ops)).toEqual([[1], [2], [3, 5], [4]]);
  });

  it('sends what waits before it reads an answer', async () => {
    const calls = new Calls();
    const { lane, sent } = calls;
    let sentBefore = 0;
    calls.reading = () => (sentBefore = sent.length);
    const first = lane.push(1);
    for (const op of [2, 3]) {
      await turn();
      void lane.push(op);
    }
    await turn();
    sent[0]!.end();
    await first;
    expect(sentBefore).toBe(3);
  });

  it('has more calls on their way where what is answered together is synced together', async () => {
    const calls = new Calls();
    calls.synced = true;
    for (let op = 1; op <= 7; op++) {
      void calls.lane.push(op);
      await turn();
    }
    expect(calls.sent).toHaveLength(6);
  });

  it('fills a call up to its weight; what is heavier goes alone', async () => {
    const { lane, sent } = new Calls();
    const half = MAX_WEIGHT / 2;
    for (const op of [half, half, 1, 10 * MAX_WEIGHT, 2]) void lane.push(op);
    await turn();
    sent[0]!.end();
    sent[1]!.end();
    await turn();
    sent[2]!.end();
    await turn();
    expect(sent.map(({ ops }) => ops)).toEqual([[half, half], [1], [10 * MAX_WEIGHT], [2]]);
  });

  it('rejects all of a call that failed, and goes on', async () => {
    const { lane, sent } = new Calls();
    const lost = [lane.push(1), lane.push(2)].map((reply) => reply.catch((error: Error) => error.message));
    await turn();
    sent[0]!.end(new Error('lost'));
    expect(await Promise.all(lost)).toEqual(['lost', 'lost']);
    const next = lane.push(3);
    await turn();
    sent[1]!.end();
    expect(await next).toBe('3');
  });

  it('is idle when every op was answered', async () => {
    const { lane, sent } = new Calls();
    await lane.idle();
    const reply = lane.push(1);
    let idle = false;
    const waiting = lane.idle().then(() => (idle = true));
    await turn();
    expect(idle).toBe(false);
    sent[0]!.end();
    await Promise.all([reply, waiting]);
    expect(idle).toBe(true);
  });
});
