import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { createLog } from '../../src/machine/log.ts'
import { withAdminSession } from '../support/adminSession.ts'
import { qrOrder } from '../support/ask.ts'
import { openTestService } from '../support/testService.ts'
import { askOnTab, openTab } from './tabClient.ts'

test('a paid answer is sent without the balance of its tab if that cannot be read, and the log says so', async () => {
  let logged = ''
  const destination = new Writable({
    write(chunk, _encoding, done) {
      logged += String(chunk)
      done()
    },
  })
  const log = createLog({ level: 'warn', name: 'test', destination })
  const service = await openTestService({ sellsTabs: true, log, env: { PRICES_USD: '/api/tools/qrcode=0.05' } })
  const tab = await openTab(service)
  await withAdminSession(service.database.adminUrl, (session) =>
    session.query('revoke select on ledger.accounts from tollbook_service'),
  )
  expect((await askOnTab(service, tab, qrOrder, { number: 1 })).status).toBe(200)
  expect(logged).toContain('tab_balance_not_read')
  expect(logged).toContain(tab.tab)
})
