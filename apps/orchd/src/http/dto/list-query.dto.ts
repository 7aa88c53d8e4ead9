import { JOB_STATES, LIMITS, type JobState, type ListQuery } from '@orchd/storage';
import { DtoReader, type FieldProblems } from './dto-reader.js';
import { ChoiceField, IdField, IntegerTextField, QueueField, TypeField } from './field.decorators.js';

/** The query of `GET /jobs`. A parameter given twice is a list and so refused. */
export class ListQueryDto {
  @ChoiceField(JOB_STATES, { description: 'Only jobs in this state.' })
  state?: JobState;

  @QueueField({ description: 'Only jobs of this queue.' })
  queue?: string;

  @TypeField({ description: 'Only jobs of this type.' })
  type?: string;

  @IntegerTextField(1, LIMITS.list, { description: 'Length of the page.', preset: 100 })
  limit?: string;

  @IdField({ description: '`next_cursor` of the page before.' })
  cursor?: string;
}

const reader = new DtoReader(ListQueryDto, {}, 'is not a parameter of this call');

export function readListQuery(query: Readonly<Record<string, unknown>>, problems: FieldProblems): ListQuery {
  const { limit, ...filters } = reader.read(query, problems);
  return { ...filters, limit: limit === undefined ? undefined : Number(limit) };
}
