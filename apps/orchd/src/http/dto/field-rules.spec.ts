import { describe, expect, it } from '@jest/globals';
import { IsIn, IsOptional, ValidateIf, validateSync } from 'class-validator';
import { FieldRules } from './field-rules.js';
import { GeneralJobDto } from './job-request.dto.js';

class Conditional {
  @ValidateIf(({ other }: Conditional) => other === true)
  @IsIn([1])
  one?: number;

  @IsOptional()
  @IsIn([1, 2], { each: true })
  many?: number[];

  @IsIn([true, false, undefined])
  other?: boolean;
}

describe('the rules of a class', () => {
  it.each([
    { type: 't' },
    { type: 't', priority: 9, payload: null, dedupe_key: 'k' },
    {},
    { type: '' },
    { type: 't', priority: 10 },
    { type: 't', payload: Infinity },
    { type: 't', id: null },
  ])('are certainly obeyed exactly when class-validator finds nothing: %j', (fields) => {
    const dto = Object.assign(new GeneralJobDto(), fields);
    expect(new FieldRules(GeneralJobDto).certainlyObeyedBy({ ...dto })).toBe(validateSync(dto).length === 0);
  });

  it.each([{ one: 2 }, { one: 1, other: true }, { many: [1] }, { many: [3] }])(
    'of another kind are left to class-validator: %j',
    (fields) => {
      expect(new FieldRules(Conditional).certainlyObeyedBy(fields)).toBe(false);
    },
  );

  it('of another kind do not matter where there is no value', () => {
    expect(new FieldRules(Conditional).certainlyObeyedBy({})).toBe(true);
  });
});
