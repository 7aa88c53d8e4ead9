import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { ERROR_STATUS } from '../errors/error-status.js';

@ApiSchema({ name: 'Error' })
export class ErrorDto {
  @ApiProperty({ type: 'integer', example: 400 })
  statusCode!: number;

  @ApiProperty({ enum: Object.keys(ERROR_STATUS), description: 'Decide by this, not by the message.' })
  code!: string;

  @ApiProperty()
  message!: string;

  @ApiPropertyOptional({ type: 'object', additionalProperties: { type: 'string' }, description: 'Field -> what is wrong with it.' })
  fields?: Record<string, string>;
}
