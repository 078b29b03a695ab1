import { poll } from '@tollbook/sandbox/postgres/poll'
import { assert } from '@tollbook/core/assert'

/** Returns when it is so. A deadline takes the place of a sleep: it is long, and only a failure waits for it. */
export async function awaitThat(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const answer = await poll({ probe: async () => (await isSo()) || undefined, timeoutMs: deadlineMs })
  assert(answer === true, `${what} within ${deadlineMs} ms`)
}

const deadlineMs = 30_000
