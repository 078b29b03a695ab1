import { type BodyReader, UnreadableBody } from './bodyReader.ts'
import { readUtcTime } from './utcTime.ts'

/** Members that the body of every event has. */
export interface EventHead {
  readonly stream: string
  readonly version: number
  readonly effectiveAtMs: number
  readonly schemaVersion: number
}

export type EventReader<E> = (reader: BodyReader) => E

/** `schemaVersion`, `stream` and `version` are neighbours in most bodies, because keys are sorted. */
export function readTail(reader: BodyReader): { schemaVersion: number; stream: string; version: number } {
  const schemaVersion = reader.integer(',"schemaVersion":')
  const stream = reader.plain(',"stream":')
  return { schemaVersion, stream, version: reader.integer(',"version":') }
}

export function readTime(reader: BodyReader, before: string): number {
  const ms = readUtcTime(reader.plain(before))
  if (ms === undefined) throw new UnreadableBody('a time is not in its one form')
  return ms
}
