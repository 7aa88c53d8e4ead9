import { getMetadataStorage, type ValidationArguments, type ValidatorConstraintInterface } from 'class-validator';
import type { ValidationMetadata } from 'class-validator/types/metadata/ValidationMetadata.js';

type Dto = Readonly<Record<string, unknown>>;

/** Plain rules have none to look at. */
const NO_ARGUMENTS = {} as ValidationArguments;

/**
 * The rules that class-validator has for the fields of one class, looked up once instead of for each object. They can say that all is well,
 * ten times as fast as `validateSync`, and nothing more: for what is wrong, and for nested objects, class-validator is asked itself.
 */
export class FieldRules {
  readonly names: ReadonlySet<string>;
  readonly #rules = new Map<string, ValidatorConstraintInterface[]>();
  readonly #nested = new Set<string>();

  constructor(type: new () => object) {
    const storage = getMetadataStorage();
    const metadata = storage.getTargetValidationMetadatas(type, '', false, false);
    this.names = new Set(metadata.map(({ propertyName }) => propertyName));
    for (const rule of metadata) {
      if (!isPlain(rule)) this.#nested.add(rule.propertyName);
      const constraints = storage.getTargetValidatorConstraints(rule.constraintCls).map(({ instance }) => instance);
      this.#rules.set(rule.propertyName, [...(this.#rules.get(rule.propertyName) ?? []), ...constraints]);
    }
    for (const name of this.#nested) this.#rules.delete(name);
  }

  /** False when a rule is broken, or when there is a nested object to look at. */
  certainlyObeyedBy(dto: Dto): boolean {
    for (const name of this.#nested) if (dto[name] !== undefined) return false;
    for (const [name, rules] of this.#rules) {
      for (const rule of rules) if (!rule.validate(dto[name], NO_ARGUMENTS)) return false;
    }
    return true;
  }
}

/** A rule for the value of one field, under no condition and without arguments. */
function isPlain({ type, each, validateIf, groups = [], constraints = [] }: ValidationMetadata): boolean {
  return (type === 'customValidation' || type === 'isDefined') && !each && !validateIf && groups.length + constraints.length === 0;
}
