// node rivals-child.mjs MEASUREMENT JSON: one measurement of one rival, in a process of its own. Prints its result as one JSON line.
import * as measurements from './rivals/measure.mjs';

const [measurement, args] = process.argv.slice(2);
console.log(JSON.stringify(await measurements[measurement](JSON.parse(args))));
process.exit(0); // BullMQ keeps connections of its own for a while
