import { IntegerField, TextField } from './field.decorators.js';

/** The built-in type whose jobs compute. */
export const CPU = 'cpu';

/** Some minutes of one core. */
export const MAX_ROUNDS = 1_000_000_000;
const MAX_SEED = 1024;

/** Payload of the type `cpu`. */
export class CpuPayloadDto {
  @IntegerField(1, MAX_ROUNDS, {
    description: 'Length of the chain: SHA-256 of the seed, then SHA-256 of the 32 bytes before, and so on.',
    required: true,
    example: 500_000,
  })
  rounds!: number;

  @TextField(MAX_SEED, { description: 'What the chain begins with, as UTF-8.', example: 'orchd', preset: '' })
  seed?: string;
}
