// node log-child.mjs MEASUREMENT JSON: one measurement of the log in a process of its own; prints its result as one JSON line.
import * as churn from './log/churn.mjs';
import * as retryStorm from './log/retry-storm.mjs';
import * as steps from './log/steps.mjs';

const MEASUREMENTS = { churn: churn.measure, 'retry-storm': retryStorm.measure, steps: steps.measure };

const [measurement, args] = process.argv.slice(2);
const result = await MEASUREMENTS[measurement](JSON.parse(args));
console.log(JSON.stringify(result));
