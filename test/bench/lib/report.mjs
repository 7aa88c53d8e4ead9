import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeMachine, doubts } from './machine.mjs';
import { markdownTable } from './table.mjs';

const DOCS = join(import.meta.dirname, '../../../docs/bench');

/**
 * What a run found, told three times: on the terminal section by section, and at the end as Markdown for people and as JSON for scripts.
 *
 * A section is `{ title, about, columns, rows, targets, runs }`: `about` says how it was measured, `runs` are the single measurements.
 */
export class Report {
  #sections = [];

  constructor(name, title, folder) {
    this.name = name;
    this.title = title;
    this.machine = describeMachine(folder);
    this.doubts = doubts(this.machine);
    console.log(`# ${title}\n\n${this.#circumstances()}`);
  }

  add(section) {
    this.#sections.push(section);
    console.log(`\n${sectionText(section)}`);
  }

  /** A part that broke is a missed target, and the end of nothing else: a run is long. */
  addFailure(part, error) {
    console.error(error);
    process.exitCode = 1;
    const target = { figure: part, measured: 'failed', wanted: 'to run', verdict: 'missed' };
    this.add({ title: part, about: `This part ended with an error: ${error.message}`, columns: [], rows: [], targets: [target], runs: {} });
  }

  /** Writes both files, unless this was only a trial, and says how many targets were missed. */
  finish({ keep }) {
    const summary = this.#summary();
    console.log(`\n${summary}`);
    if (!keep) return;
    mkdirSync(DOCS, { recursive: true });
    writeFileSync(join(DOCS, `${this.name}.md`), this.#markdown(summary));
    writeFileSync(join(DOCS, `${this.name}.json`), `${JSON.stringify({ machine: this.machine, sections: this.#sections }, null, 2)}\n`);
    console.log(`written: docs/bench/${this.name}.md, docs/bench/${this.name}.json`);
  }

  #summary() {
    const targets = this.#sections.flatMap((section) => section.targets);
    const missed = targets.filter(({ verdict }) => verdict === 'missed');
    const names = missed.map(({ figure, measured, wanted }) => `\n- ${figure}: ${measured}, wanted ${wanted}`);
    return `${targets.length - missed.length} of ${targets.length} targets met, ${missed.length} missed${missed.length ? ':\n' : '.'}${names.join('')}`;
  }

  #circumstances() {
    const { date, node, platform, cores, cpu, load_at_start, fdatasync_median_ms } = this.machine;
    const facts = `${date}, Node ${node}, ${platform}, ${cores} cores (${cpu}), load ${load_at_start} at the start, one write + fdatasync ${fdatasync_median_ms} ms (median).`;
    return [facts, ...this.doubts.map((doubt) => `**${doubt}**`)].join('\n');
  }

  #markdown(summary) {
    const made = `Made by \`npm run bench -- ${this.name}\`; [how it is measured](README.md).`;
    const texts = this.#sections.map(sectionText);
    return [`# ${this.title}`, this.#circumstances(), made, summary, ...texts].join('\n\n') + '\n';
  }
}

function sectionText({ title, about, columns, rows, targets }) {
  const parts = [`## ${title}`, about];
  if (rows.length > 0) parts.push(markdownTable(columns, rows));
  if (targets.length > 0) {
    const lines = targets.map(({ figure, measured, wanted, verdict }) => [
      figure,
      measured,
      wanted,
      verdict === 'met' ? 'met' : '**missed**',
    ]);
    parts.push(markdownTable(['figure', 'measured', 'target', 'verdict'], lines));
  }
  return parts.join('\n\n');
}
