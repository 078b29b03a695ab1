import type { AppendResult, Item } from './item.ts'

export interface LedgerKernel {
  /**
   * Resolves when the outcome is certain. Rejects with a `Fault` if the database takes no appends or not this content,
   * or if the outcome cannot be learned in time.
   */
  append(item: Item): Promise<AppendResult>
  /** Reads the events of one stream in order. Empty if the stream does not exist. */
  read(stream: Uint8Array): Promise<readonly RecordedEvent[]>
  /** Reads the events of several streams. Results are in the order of `streams`. */
  readMany(streams: readonly Uint8Array[]): Promise<readonly (readonly RecordedEvent[])[]>
  /** Resolves when no append is waiting or in progress. */
  drained(): Promise<void>
}

export interface RecordedEvent {
  readonly position: number
  readonly version: number
  readonly kind: string
  readonly schemaVersion: number
  readonly recordedAtMs: number
  readonly effectiveAtMs: number
  readonly body: Uint8Array
  /** Hash of the leaf in hex. */
  readonly leafHash: string
}
