import { sql } from 'kysely'
import type { Database } from './database.ts'

/** All instances share this schedule, so that only one instance takes each poll. */
export interface NewsPolls {
  takePoll(polls: readonly PollPlan[]): Promise<TakenPoll | undefined>
  pollSucceeded(done: PollDone): Promise<void>
  pollFailed(name: string): Promise<void>
}

/** Polls of one lane share a provider's limit, so `spacingMs` separates them across all instances. */
export interface PollPlan {
  readonly name: string
  readonly lane: string
  readonly category: string
  /** Pause in milliseconds between two polls of one lane, across all instances. */
  readonly spacingMs: number
}

export interface TakenPoll {
  readonly name: string
  readonly etag: string | undefined
  readonly lastModified: string | undefined
}

export interface PollDone extends TakenPoll {
  readonly everyMs: number
}

/** Prefix of the names of sample data, so that samples and real news can share the tables. */
export const sampleMark = 'sample:'
export type NewsMark = '' | typeof sampleMark

// Longer than a poll may take, so that no two instances run the same poll. After this time another instance may take
// it.
const leaseMs = 60_000

export function createNewsPolls(database: Database, mark: NewsMark): NewsPolls {
  const marked = (name: string): string => mark + name
  return {
    takePoll: (polls) => takePoll(database, mark, polls),
    async pollSucceeded({ name, everyMs, etag = null, lastModified = null }) {
      await sql`select news.poll_succeeded(${marked(name)}, ${everyMs}, ${etag}, ${lastModified})`.execute(database)
    },
    async pollFailed(name) {
      await sql`select news.poll_failed(${marked(name)})`.execute(database)
    },
  }
}

async function takePoll(
  database: Database,
  mark: NewsMark,
  polls: readonly PollPlan[],
): Promise<TakenPoll | undefined> {
  const column = <T>(value: (poll: PollPlan) => T): T[] => polls.map(value)
  const { rows } = await sql<{ poll: string; poll_etag: string | null; poll_last_modified: string | null }>`
    select * from news.take_poll(
      ${column(({ name }) => mark + name)}::text[], ${column(({ lane }) => mark + lane)}::text[],
      ${column(({ category }) => category)}::text[], ${column(({ spacingMs }) => spacingMs)}::integer[], ${leaseMs})`.execute(
    database,
  )
  const [row] = rows
  if (row === undefined) return undefined
  const name = row.poll.slice(mark.length)
  return { name, etag: row.poll_etag ?? undefined, lastModified: row.poll_last_modified ?? undefined }
}
