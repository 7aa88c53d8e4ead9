import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { DEDUPE_KEY_MAX, ID_PATTERN, QUEUE_PATTERN, TYPE_PATTERN } from '@orchd/storage';
import { IsDefined, IsInstance, ValidateBy, ValidateIf, ValidateNested } from 'class-validator';
import { payloadProblem } from './payload-check.js';

/**
 * One decorator per kind of field: what class-validator refuses and what OpenAPI promises are written once. Nothing is coerced; `null` is
 * a wrong value, not a missing one.
 */
export interface FieldOptions {
  readonly description: string;
  readonly required?: true;
  readonly example?: unknown;
  readonly preset?: unknown;
}

/** Any JSON value; OpenAPI 3.0 has no word for it. */
export const ANY_JSON: ApiPropertyOptions = {
  anyOf: [{ type: 'object' }, { type: 'array', items: {} }, { type: 'string' }, { type: 'number' }, { type: 'boolean' }],
  nullable: true,
};

export function IntegerField(min: number, max: number, options: FieldOptions): PropertyDecorator {
  const valid = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
  return field('integer', `must be an integer ${min}..${max}`, valid, { type: 'integer', minimum: min, maximum: max }, options);
}

export function NumberField(min: number, max: number, options: FieldOptions): PropertyDecorator {
  const valid = (value: unknown) => Number.isFinite(value) && (value as number) >= min && (value as number) <= max;
  return field('number', `must be a number ${min}..${max}`, valid, { type: 'number', minimum: min, maximum: max }, options);
}

export function TextField(maxLength: number, options: FieldOptions): PropertyDecorator {
  const valid = (value: unknown) => typeof value === 'string' && value.length <= maxLength;
  return field('text', `must be a string of at most ${maxLength} characters`, valid, { type: 'string', maxLength }, options);
}

export function IdField(options: FieldOptions): PropertyDecorator {
  return patternField(ID_PATTERN, options);
}

export function TypeField(options: FieldOptions): PropertyDecorator {
  return patternField(TYPE_PATTERN, options);
}

export function QueueField(options: FieldOptions): PropertyDecorator {
  return patternField(QUEUE_PATTERN, options);
}

export function DedupeKeyField(options: FieldOptions): PropertyDecorator {
  const schema: ApiPropertyOptions = { type: 'string', minLength: 1, maxLength: DEDUPE_KEY_MAX };
  return field('dedupe_key', `must be a string of 1..${DEDUPE_KEY_MAX} characters`, isDedupeKey, schema, options);
}

export function ChoiceField(choices: readonly string[], options: FieldOptions): PropertyDecorator {
  const valid = (value: unknown) => choices.includes(value as string);
  const among = `one of ${choices.join(', ')}`;
  // Said in words as well: of a query's fields @nestjs/swagger forgets the enum.
  const description = `${options.description} It is ${among}.`;
  return field('choice', `must be ${among}`, valid, { enum: [...choices] }, { ...options, description });
}

/** A whole number written in decimal digits, as a query string carries it. */
export function IntegerTextField(min: number, max: number, options: FieldOptions): PropertyDecorator {
  const valid = (value: unknown) =>
    typeof value === 'string' && /^[0-9]{1,16}$/.test(value) && Number(value) >= min && Number(value) <= max;
  return field('integer', `must be an integer ${min}..${max}`, valid, { type: 'integer', minimum: min, maximum: max }, options);
}

export function PayloadField(options: FieldOptions): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ ...ANY_JSON, description: options.description, example: options.example }),
    ValidateBy({
      name: 'payload',
      validator: {
        validate: (value) => payloadProblem(value) === null,
        defaultMessage: (args) => payloadProblem(args?.value) ?? '',
      },
    }),
  );
}

/** An object with fields of its own, checked by the class that the {@link DtoReader} made of it. */
export function ObjectField(type: new () => object, options: FieldOptions): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type, description: options.description }),
    ValidateIf((_dto, value) => value !== undefined),
    IsInstance(type, { message: 'must be an object' }),
    ValidateNested(),
  );
}

export function isDedupeKey(value: unknown): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= DEDUPE_KEY_MAX && value.isWellFormed();
}

function patternField(pattern: RegExp, options: FieldOptions): PropertyDecorator {
  const valid = (value: unknown) => typeof value === 'string' && pattern.test(value);
  return field('pattern', `must be a string that matches ${pattern.source}`, valid, { type: 'string', pattern: pattern.source }, options);
}

function field(
  name: string,
  message: string,
  valid: (value: unknown) => boolean,
  schema: ApiPropertyOptions,
  { description, required, example, preset }: FieldOptions,
): PropertyDecorator {
  const documented = { ...schema, description, example, default: preset } as ApiPropertyOptions;
  const validate = required ? valid : (value: unknown) => value === undefined || valid(value);
  const check = ValidateBy({ name, validator: { validate, defaultMessage: () => message } });
  return required
    ? applyDecorators(ApiProperty(documented), IsDefined({ message: 'is required' }), check)
    : applyDecorators(ApiPropertyOptional(documented), check);
}
