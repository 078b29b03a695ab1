import pg from 'pg'
import { systemClock } from '@tollbook/core/clock'

const inOrder = {
  events: 'order by seq',
  streams: '',
} as const

export interface Copied {
  readonly table: keyof typeof inOrder
  readonly format: 'text' | 'binary'
}

// ReadyForQuery outside of a database transaction: the last message of an answer.
const readyForQuery = Buffer.from('5a0000000549', 'hex')

/** COPY … TO STDOUT to a client that does nothing with what it gets, not even take it for rows. */
export async function copyMs(url: string, { table, format }: Copied): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const startedAtMs = systemClock.monotonicMs()
  await new Promise<void>((resolve, reject) => {
    const query: pg.Submittable & { handleError: (error: unknown) => void } = {
      submit(connection) {
        connection.stream.removeAllListeners('data')
        connection.stream.on('data', (chunk: Buffer) => {
          if (chunk.subarray(-readyForQuery.length).equals(readyForQuery)) resolve()
        })
        connection.query(`copy (select * from ledger.${table} ${inOrder[table]}) to stdout (format ${format})`)
      },
      handleError: reject,
    }
    client.query(query)
  })
  const durationMs = systemClock.monotonicMs() - startedAtMs
  await client.end()
  return durationMs
}
