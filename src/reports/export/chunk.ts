/** A piece of an export, and the position up to which it goes. */
export interface Chunk {
  readonly chunk: string | Uint8Array
  readonly upto: number
}
