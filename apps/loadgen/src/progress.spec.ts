import { Writable } from 'node:stream';
import { createProgress } from './progress.js';
import { fakeTerminal } from './run.fixture.js';
import { realWorld } from './world.js';

function lines(): { written: string[]; stream: Writable } {
  const written: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      written.push(chunk.toString());
      callback();
    },
  });
  return { written, stream };
}

describe('progress off a terminal', () => {
  it('is silent for two seconds, then writes a line every five', () => {
    const { written, stream } = lines();
    let now = 0;
    const progress = createProgress(stream, 100, { ...realWorld, now: () => now });

    for (; now <= 12_000; now += 100) progress.update(50, now === 7000 ? undefined : 10);
    progress.stop();

    expect(written).toEqual([
      'loadgen: 50/100 submitted, 10 finished\n',
      'loadgen: 50/100 submitted, no answer\n',
      'loadgen: 50/100 submitted, 10 finished\n',
    ]);
  });
});

describe('progress on a terminal', () => {
  it('draws a bar and gives the cursor back', () => {
    const terminal = fakeTerminal();
    const progress = createProgress(terminal, 100, realWorld);

    progress.update(80, 40);
    progress.stop();
    progress.stop();

    const drawn = String(terminal.read());
    expect(drawn).toContain('40/100 finished | 80 submitted');
    expect(drawn.lastIndexOf('\u001B[?25h')).toBeGreaterThan(drawn.lastIndexOf('\u001B[?25l'));
  });
});
