import { describe, expect, it } from '@jest/globals';
import { RequestTurns } from './request-turns.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the turns of requests', () => {
  it('lets a lone request in at once', () => {
    const entered: number[] = [];
    new RequestTurns().take(() => entered.push(1));
    expect(entered).toEqual([1]);
  });

  it('spreads a burst over many turns, in the order of arrival, so that what else happens comes in between', async () => {
    const entered: (number | string)[] = [];
    const turns = new RequestTurns();
    for (let n = 0; n < 10; n++) turns.take(() => entered.push(n));
    expect(entered).toEqual([0, 1, 2, 3]);
    await turn();
    entered.push('a job ends');
    await turn();
    expect(entered).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 'a job ends', 8, 9]);
  });

  it('does not let a request past those that wait', async () => {
    const entered: number[] = [];
    const turns = new RequestTurns();
    for (let n = 0; n < 6; n++) turns.take(() => entered.push(n));
    await turn();
    turns.take(() => entered.push(6));
    turns.take(() => entered.push(7));
    turns.take(() => entered.push(8));
    expect(entered).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    await turn();
    expect(entered).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });
});
