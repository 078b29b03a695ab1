import { systemClock } from '@tollbook/core/clock'
import { expect, test } from 'vitest'
import { auditCommand } from '../../src/cli/audit.ts'
import type { CommandDeps } from '../../src/cli/commandDeps.ts'
import { exportCommand } from '../../src/cli/export.ts'
import { reportCommand } from '../../src/cli/report.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { silentLog } from '../../src/machine/log.ts'
import { openLedger } from '../../src/store/openLedger.ts'
import { ask, startReplicas } from '../proofs/failover/replicas.ts'
import { samplePrice } from '../store/samplePayment.ts'
import { afterFile } from '../support/afterFile.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

test('reports, exports and audits read from a hot standby, which cannot roll up', async () => {
  const replicas = await startReplicas()
  afterFile(async () => replicas[Symbol.asyncDispose]())
  const { serviceUrl, name } = await replicas.createDatabase()
  const ledger = await openLedger({
    databaseUrl: serviceUrl,
    applicationName: 'primary',
    clock: systemClock,
    log: silentLog,
  })
  const prices = [samplePrice()]
  await ledger.priceLists.publish({ kind: 'PriceListPublished', source: 'fixed', split: defaultSplit, prices })
  await ledger.close()
  const standby = await replicas.addStandby(replicas.primary.port)
  const at = (url: string): string => Object.assign(new URL(url), { port: String(standby.port) }).href
  const admin = Object.assign(new URL(standby.adminUrl), { pathname: `/${name}` }).href
  const isThere = async () => (await ask(admin, 'select from ledger.events').catch(() => [])).length > 0
  await awaitThat('the standby has the ledger', isThere)

  const home = await makeScratchDirectory()
  const ran = { exitCode: 0, text: '' }
  const write = (text: string): void => void (ran.text += text)
  const deps: CommandDeps = {
    stdout: { write },
    stderr: { write },
    home: () => home,
    setExitCode: (exitCode) => void (ran.exitCode = exitCode),
    interrupted: new AbortController().signal,
    clock: systemClock,
  }
  const databaseUrl = at(serviceUrl)
  const receiptKey = () => Promise.reject(new Error('no statement is signed here'))
  const report = reportCommand({ ...deps, receiptKey, databaseUrl: () => Promise.resolve(databaseUrl) })
  await report.parseAsync(['trial-balance'], { from: 'user' })
  await exportCommand(deps).parseAsync(['jsonl', '--database', databaseUrl], { from: 'user' })
  await auditCommand(deps).parseAsync(['--database', databaseUrl], { from: 'user' })
  expect(ran).toMatchObject({ exitCode: 0, text: expect.stringContaining('as of position 0 of 1') })
  for (const text of ['"treeSize":1', '1 bodies read']) expect(ran.text).toContain(text)
})
