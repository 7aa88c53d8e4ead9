import type { KitChapter } from '../kit-case.js';
import { badArguments } from './arguments.js';
import { cancel } from './cancel.js';
import { claim } from './claim.js';
import { clocks } from './clocks.js';
import { dedupe } from './dedupe.js';
import { delayed } from './delayed.js';
import { durability } from './durability.js';
import { enqueue } from './enqueue.js';
import { events } from './events.js';
import { extend } from './extend.js';
import { lease } from './lease.js';
import { lifecycle } from './lifecycle.js';
import { limits } from './limits.js';
import { list } from './list.js';
import { longPoll } from './long-poll.js';
import { moving } from './moving.js';
import { prune } from './prune.js';
import { reap } from './reap.js';
import { redrive } from './redrive.js';
import { repeat } from './repeat.js';
import { restart } from './restart.js';
import { settle } from './settle.js';
import { twoClients } from './two-clients.js';
import { walk } from './walk.js';

/** The kit, in the order in which an adapter is written. */
export const chapters: readonly KitChapter[] = [
  lifecycle,
  badArguments,
  enqueue,
  dedupe,
  claim,
  longPoll,
  delayed,
  lease,
  settle,
  repeat,
  limits,
  extend,
  reap,
  cancel,
  redrive,
  list,
  prune,
  clocks,
  events,
  durability,
  restart,
  moving,
  twoClients,
  walk,
];
