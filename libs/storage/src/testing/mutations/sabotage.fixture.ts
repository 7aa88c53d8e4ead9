import type { KitChapter } from '../kit-case.js';

type Method<T, K extends keyof T> = T[K] extends (...args: infer A) => infer R ? (this: T, ...args: A) => R : never;

/** Methods of a class, broken on purpose, and put back. */
export class Sabotage {
  readonly #undo: (() => void)[] = [];

  /** Puts `broken` in the place of a method; it is given the sound one and is called like it. */
  replace<T extends object, K extends keyof T>(
    type: { readonly prototype: T },
    name: K,
    broken: (sound: Method<T, K>) => Method<T, K>,
  ): void {
    const target = type.prototype;
    const sound = target[name];
    target[name] = broken(sound as Method<T, K>) as T[K];
    this.#undo.push(() => void (target[name] = sound));
  }

  end(): void {
    for (const undo of this.#undo.splice(0).reverse()) undo();
  }
}

/** A way to break a storage, by the claim that does not hold any more. */
export interface Mutation {
  readonly name: string;
  /** The chapter that is there to see it. */
  readonly noticedBy: KitChapter;
  /** False where a walk beside the model does not come by. */
  readonly walk?: false;
  readonly breaks: (sabotage: Sabotage) => void;
}
