import { awaitThat } from './awaitThat.ts'
import { withAdminSession } from './adminSession.ts'

/**
 * Waits until every answer of the ledger is marked as sent, and moves the time of sending back by the two minutes of
 * the default.
 */
export async function endRepeats(adminUrl: string): Promise<void> {
  await withAdminSession(adminUrl, async (session) => {
    const unsent = 'select from ledger.notes where sent_at is null'
    await awaitThat('the answers are marked as sent', async () => (await session.query(unsent)).rowCount === 0)
    await session.query("begin; set local ledger.writing = 'on'")
    for (const table of ['notes', 'sent_notes'])
      await session.query(`update ledger.${table} set sent_at = sent_at - interval '120 seconds'`)
    await session.query('commit')
  })
}
