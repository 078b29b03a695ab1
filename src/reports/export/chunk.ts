/** A piece of an export, and its last position. */
export interface Chunk {
  readonly chunk: string | Uint8Array
  readonly upto: number
}
