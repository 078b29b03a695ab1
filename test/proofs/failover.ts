import { systemClock } from '@tollbook/core/clock'
import { type Findings, type RunOptions, runScenario, type Scenario } from './failover/scenario.ts'
import { ask, mostAdvanced, promote, requireStandby } from './failover/replicas.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * The database of a running service is replaced: by a synchronous standby, by an asynchronous one that lacks the last
 * commits, and by an old backup. No payment buys twice, and where payments are lost the service is closed with a
 * reason.
 */

const command = proofCommand(
  'failover',
  'Replaces the database under paid load. No payment buys twice; where commits are lost the service closes. About 3 minutes.',
)
  .option('--servers <n>', 'server processes', wholeNumber, 3)
  .option('--callers <n>', 'callers who buy without a pause', wholeNumber, 6)
  .option('--seconds <n>', 'load before and after', wholeNumber, 5)
  .option('--only <n>', '1: synchronous standby, 2: asynchronous standby, 3: old backup, 0: all', wholeNumber, 0)
const { only, ...options } = command.parse().opts<RunOptions & { only: number }>()

const lagMs = 2_000

const synchronous: Scenario = {
  name: 'sync standby promoted',
  env: { REQUIRE_SYNCHRONOUS_STANDBY: '1' },
  ends: 'open',
  async prepare({ replicas, back }) {
    standbys = [await replicas.addStandby(back.port), await replicas.addStandby(back.port)]
    await requireStandby(replicas.primary, standbys.length)
  },
  async act({ replicas, front, back }) {
    await replicas.primary.kill()
    const next = await mostAdvanced(standbys)
    await promote(next)
    back.leadTo(next.port)
    front.leadTo(next.port)
    await requireStandby(next, standbys.length - 1)
    return next
  },
}

const asynchronous: Scenario = {
  name: 'async standby promoted',
  ends: 'closed',
  async prepare({ replicas, back }) {
    standbys = [await replicas.addStandby(back.port)]
  },
  async act({ replicas, front, back }) {
    back.freeze()
    await systemClock.sleep(lagMs)
    await replicas.primary.kill()
    const next = await mostAdvanced(standbys)
    back.leadTo(next.port)
    await promote(next)
    front.leadTo(next.port)
    return next
  },
}

const oldBackup: Scenario = {
  name: 'backup restored',
  ends: 'closed',
  prepare: () => Promise.resolve(),
  async act({ replicas, front }) {
    const backup = await replicas.backUp()
    await systemClock.sleep(lagMs)
    await replicas.primary.kill()
    const restored = await backup.restore()
    front.leadTo(restored.port)
    await ask(restored.adminUrl, 'select 1')
    return restored
  },
}

let standbys: Parameters<typeof mostAdvanced>[0] = []
const scenarios = [synchronous, asynchronous, oldBackup].filter((_, index) => only === 0 || only === index + 1)
const lines: string[] = []
const wrong: string[] = []
for (const scenario of scenarios) await run(scenario, options)
concludeProof({ holds: wrong.length === 0, lines: [header(), ...lines, ...wrong] })

async function run(scenario: Scenario, given: RunOptions): Promise<void> {
  say(`${scenario.name}: ${given.servers} servers, ${given.callers} callers`)
  const findings = await runScenario(scenario, given)
  lines.push(rowOf(scenario, findings))
  wrong.push(...findings.wrong.map((one) => `${scenario.name}: ${one}`))
  const answers = [...findings.tally].map(([answer, count]) => `${answer}: ${count}`).toSorted()
  say(`  answers: ${answers.join(', ')}`)
  for (const problem of findings.problems) say(`  ${problem}`)
}

function header(): string {
  return row(['', 'answered', 'lost', 'twice', 'longest gap', 'checkpoints', 'moved back', 'two roots', 'ends'])
}

function rowOf({ name, ends }: Scenario, { answered, lost, twice, gapMs, checkpoints }: Findings): string {
  const gap = `${(gapMs / 1000).toFixed(1)} s`
  const { seen, moves, conflicts } = checkpoints
  return row([name, answered, lost, twice, gap, seen(), moves(), conflicts().length, ends])
}

function row(cells: readonly (string | number)[]): string {
  return cells.map((cell, index) => String(cell).padEnd(index === 0 ? 24 : 12)).join('')
}
