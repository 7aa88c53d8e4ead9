/** The package ships no types; of it we use one call. An OFD lock on Linux: bound to the open file, released by the kernel with it. */
declare module 'fs-native-extensions' {
  /** Exclusive, over the whole file, without waiting. False: somebody else holds it. */
  export function tryLock(descriptor: number): boolean;
}
