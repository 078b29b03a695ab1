import '@tollbook/core/quietBindings'
import { writeFile } from 'node:fs/promises'
import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { createService } from '../../src/compose.ts'
import { isServiceConfig, readConfig } from '../../src/config.ts'
import { silentLog } from '../../src/machine/log.ts'
import { ask } from '../support/ask.ts'
import { shiftedClock } from '../support/shiftedClock.ts'
import { debitProof, openTab } from '../tabs/tabClient.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { type Came, createAttackBoard, cryptoOrder, saidIn } from './tabs/attackBoard.ts'
import { attackStatements } from './tabs/forgedDebits.ts'
import { attackFork } from './tabs/forkAttack.ts'
import { attackLifecycle } from './tabs/lifecycleAttacks.ts'
import { attackBalance, attackBearer, attackDeposits } from './tabs/moneyAttacks.ts'
import { auditTabs } from './tabs/auditTabs.ts'
import { findUnequal, readTabSums } from './tabs/readTabSums.ts'
import { attackStreams, startSlowModel } from './tabs/streamAttacks.ts'
import { openTabFleet } from './tabs/tabFleet.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * The faults of other session implementations as attacks on tabs, over four instances, over HTTP and MCP: each is
 * refused, and prints what came. At the end every base unit is accounted for, and the audit agrees with the chain.
 */

const { atOnce } = proofCommand('attacks', 'Attacks on tabs are refused.')
  .option('--at-once <n>', 'requests of one race', wholeNumber, 64)
  .parse()
  .opts<{ atOnce: number }>()

const model = await startSlowModel()
await using fleet = await openTabFleet({
  TAB_BEARER_DAY_USD: '1',
  PRICES_USD: '/api/data/crypto=0.05,/api/tools/qrcode=0.05',
  HANDLER_TIMEOUT_MS: '8000',
  AI_BASE_URL: model.url,
  AI_MODEL: 'small,large',
  AI_MODEL_PRICES_USD: 'large=0.002:64',
  AI_TOKEN_PRICES_USD: 'large=10:40:0.0001',
})
const { environment, runsFile } = fleet
const { database, payer } = environment
await writeFile(runsFile, '')
const board = createAttackBoard(fleet, atOnce)

/** One more instance, whose clock jumps. */
async function attackClock(): Promise<void> {
  let number = 0
  const tab = await openTab(board.counter())
  const clock = shiftedClock()
  const config = readConfig(fleet.env)
  assert(isServiceConfig(config), 'the service is configured')
  const service = await createService(config, { log: silentLog, clock })
  const jumped = { baseUrl: `http://127.0.0.1:${service.port}`, payer }
  const came: Came[] = []
  const dayMs = 86_400_000
  for (const [jumpMs, aheadMs] of [
    [366 * dayMs, 60_000],
    [0, 366 * dayMs],
    [-732 * dayMs, 60_000],
    [0, -366 * dayMs],
  ] as const) {
    clock.advance(jumpMs)
    await systemClock.sleep(1_000)
    const order = cryptoOrder(`CLOCK${++number}`)
    const proof = debitProof(tab, order, { number, validUntilMs: Date.now() + aheadMs })
    const { status, body } = await ask(jumped, { ...order, proof })
    came.push({ status, said: saidIn(body), body })
  }
  board.note('debits at an instance whose clock is a year ahead or behind', came)
  await service.close()
  const order = cryptoOrder('HONEST')
  const honest = await board.http({ ...order, proof: debitProof(tab, order, { number: ++number }) })
  board.expectThat('a jumped clock ends no tab', honest.status === 200)
}

say(`4 instances, ${atOnce} requests at once`)
await attackStatements(board)
await attackDeposits(board)
await attackBalance(board)
await attackBearer(board)
await attackLifecycle(board)
await attackStreams(board)
await attackClock()
await attackFork(board)
await board.settled()

const sums = await readTabSums(database.adminUrl)
board.wrong.push(...findUnequal(sums))
const report = await auditTabs(fleet, 3_600_000)
board.wrong.push(...report.wrong)
model.close()
concludeProof({
  holds: board.wrong.length === 0,
  lines: [
    `${board.lines.length} attacks; ${sums.deposited} deposited = ${sums.captured} captured + ${sums.owedBack} owed back + ${sums.takenBack} taken back + ${sums.balance} on tabs`,
    report.line,
    ...board.wrong,
  ],
})
