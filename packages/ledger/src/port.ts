import type { AppendResult, Item } from './item.ts'

/** Operations of a service on its ledger; implemented on Postgres and in memory with the same meaning. */
export interface LedgerKernel {
  /** Resolves when the outcome is certain; rejects with a Fault when it cannot be learned in time. */
  append(item: Item): Promise<AppendResult>
  /** The stream's events in their order; empty when the stream does not exist. */
  read(stream: Uint8Array): Promise<readonly RecordedEvent[]>
  /** In the order of the streams. */
  readMany(streams: readonly Uint8Array[]): Promise<readonly (readonly RecordedEvent[])[]>
  /** Resolves when no append is waiting or in progress. */
  drained(): Promise<void>
}

/** An event as it was stored, with its place in the ledger and in its stream. */
export interface RecordedEvent {
  readonly position: number
  readonly version: number
  readonly kind: string
  readonly schemaVersion: number
  readonly recordedAtMs: number
  readonly effectiveAtMs: number
  readonly body: Uint8Array
  /** In hex. */
  readonly leafHash: string
}
