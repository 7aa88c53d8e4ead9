// One measurement of cpu.bench.mjs in a process of its own: node cpu-child.mjs NAME JSON. The last line it prints is the result.
import * as measurements from './cpu/in-process.mjs';

const [name, options] = process.argv.slice(2);
console.log(JSON.stringify(await measurements[name](JSON.parse(options))));
process.exit(0);
