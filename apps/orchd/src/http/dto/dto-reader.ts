import { validateSync, type ValidationError, type ValidatorOptions } from 'class-validator';
import { FieldRules } from './field-rules.js';

/** Field name as the sender wrote it (`backoff.base_ms`, `jobs[3].type`) -> what is wrong with it. */
export type FieldProblems = Map<string, string>;

type DtoClass<T extends object> = new () => T;

const VALIDATION: ValidatorOptions = {
  whitelist: true,
  forbidNonWhitelisted: true,
  forbidUnknownValues: true,
  stopAtFirstError: true,
  validationError: { target: false, value: false },
};

const LONGEST_NAME_SHOWN = 64;

/**
 * Makes a checked DTO of a parsed JSON object. It does what Nest's ValidationPipe does, without class-transformer: nothing is coerced,
 * so a flat copy is enough, and that is a good part of the cost of a small request.
 */
export class DtoReader<T extends object> {
  readonly #rules: FieldRules;

  constructor(
    private readonly type: DtoClass<T>,
    private readonly nested: Readonly<Record<string, DtoReader<object>>> = {},
    private readonly unknownField = 'is not a field of this request',
  ) {
    this.#rules = new FieldRules(type);
  }

  /** Adds every problem it finds; the DTO is good only if it found none. */
  read(body: Readonly<Record<string, unknown>>, problems: FieldProblems, path = ''): T {
    const dto = this.#instance(body, problems, path);
    if (!this.#rules.certainlyObeyedBy(dto)) collect(validateSync(dto, VALIDATION), problems, path);
    return dto;
  }

  /**
   * Only known names are copied. class-validator's own whitelist lets names of `Object.prototype` through (`constructor`,
   * `hasOwnProperty`), and an own `constructor` would make it look up the rules of another class.
   */
  #instance(body: Readonly<Record<string, unknown>>, problems: FieldProblems, path: string): T & Record<string, unknown> {
    const dto = new this.type() as T & Record<string, unknown>;
    for (const name of Object.keys(body)) {
      if (!this.#rules.names.has(name)) problems.set(path + shown(name), this.unknownField);
      else (dto as Record<string, unknown>)[name] = this.#value(name, body[name], problems, path);
    }
    return dto;
  }

  #value(name: string, value: unknown, problems: FieldProblems, path: string): unknown {
    const reader = Object.hasOwn(this.nested, name) ? this.nested[name] : undefined;
    return reader && isJsonObject(value) ? reader.#instance(value, problems, `${path}${name}.`) : value;
  }
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function collect(errors: readonly ValidationError[], problems: FieldProblems, path: string): void {
  for (const { property, constraints, children } of errors) {
    const [problem] = Object.values(constraints ?? {});
    if (problem !== undefined) problems.set(path + shown(property), problem);
    if (children) collect(children, problems, `${path}${property}.`);
  }
}

function shown(name: string): string {
  return name.length > LONGEST_NAME_SHOWN ? `${name.slice(0, LONGEST_NAME_SHOWN)}...` : name;
}
