import { poll } from './poll.ts'
import { assert } from '@tollbook/core/assert'

/**
 * Returns the first result that is neither false nor undefined, so that a test uses what it saw and does not ask again.
 * A deadline takes the place of a sleep: it is long, and only a failure waits for it.
 */
export async function awaitThat<Seen>(
  what: string,
  look: () => Promise<Seen | false | undefined> | Seen | false | undefined,
): Promise<Seen> {
  const seen = await poll<Seen>({ probe: async () => (await look()) || undefined, timeoutMs: deadlineMs })
  assert(seen !== undefined, `${what} within ${deadlineMs} ms`)
  return seen
}

const deadlineMs = 120_000
