import { JobHandler } from '@orchd/queue';
import { CPU } from '../../http/dto/cpu-payload.dto.js';

/** Stands for work that computes. */
@JobHandler(CPU, { runIn: 'thread', module: new URL('./cpu.thread.js', import.meta.url) })
export class CpuHandler {}
