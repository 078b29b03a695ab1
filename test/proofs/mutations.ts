import { execFile } from 'node:child_process'
import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { assert } from '@tollbook/core/assert'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'

/*
 * Turns one condition of the rules about money at a time, in a copy, and runs the tests that should notice. A line that
 * can be turned without a test failing is a line that nothing holds.
 *
 *   npm run proof:mutations          all of them, some ten minutes
 *   npm run proof:mutations -- 3     only the third
 */

interface Mutation {
  readonly file: string
  readonly line: string
  readonly turned: string
  readonly tests: readonly string[]
}

const verification = ['test/payment', 'test/chain', 'test/paywall']
const decider = ['test/payment', 'test/ledger']

const mutations: readonly Mutation[] = [
  change('payment/settlement.ts', '!record.signers.includes(wallet)', 'record.signers.length === 0'),
  change('payment/settlement.ts', 'record.failure !== undefined', 'record.failure?.insufficientFunds === true'),
  change('payment/settlement.ts', '|| movement.authority !== wallet) return', ') return'),
  change('payment/settlement.ts', 'owners.length > 0 && ', ''),
  change(
    'payment/settlement.ts',
    'owners.every((owner) => owner === wallet)',
    'owners.some((owner) => owner === wallet)',
  ),
  change('payment/settlement.ts', 'burnedBaseUnits < price.burnBaseUnits', 'burnedBaseUnits <= price.burnBaseUnits'),
  change('payment/settlement.ts', '-change < burnedBaseUnits', '-change < 0n'),
  change('payment/settlement.ts', 'if (minted) return', 'if (minted && own.length === 0) return'),
  change(
    'payment/settlement.ts',
    'sentBaseUnits < arrivedBaseUnits ? sentBaseUnits : arrivedBaseUnits',
    'sentBaseUnits',
  ),
  change('payment/settlement.ts', 'receivedBaseUnits < required', 'receivedBaseUnits + 1n < required'),
  change('payment/binding.ts', 'another !== undefined', 'another !== undefined && another !== memo'),
  change('payment/binding.ts', 'if (secret === undefined) return', "if (secret === '') return"),
  change('payment/binding.ts', 'memo === memoOfSecret(secret)', 'memo.length === memoOfSecret(secret).length'),
  change('chain/transferParser.ts', 'known.after = BigInt', 'known.after = known.before + 0n * BigInt'),
  change('chain/transferParser.ts', 'tokenPrograms.has(program) ?', 'program.length > 0 ?'),
  change(
    'chain/transferParser.ts',
    "if (effect.kind === 'open') seen",
    "if (effect.kind === 'open' && keys.length === 0) seen",
  ),
  change('payment/payment.ts', 'nowMs >= leaseUntilMs', 'nowMs > 0', decider),
  change('payment/payment.ts', 'endpoint !== order.endpoint', 'endpoint.length !== order.endpoint.length', decider),
  change('payment/payment.ts', '|| state.attemptId !== command.attemptId', '', decider),
  change(
    'payment/payment.ts',
    'claimEvent(state.attempt + 1, command)]',
    'claimEvent(state.attempt, command)]',
    decider,
  ),
  change('ledger/postingRules.ts', 'receivedBaseUnits - owed', '0n * receivedBaseUnits', decider),
  change('ledger/postingRules.ts', 'credit: accounts.holders', 'credit: accounts.treasury', decider),
]

function change(file: string, line: string, turned: string, tests: readonly string[] = verification): Mutation {
  return { file, line, turned, tests }
}

const root = new URL('../..', import.meta.url).pathname
const chosen = process.argv[2] === undefined ? mutations : mutations.slice(Number(process.argv[2]) - 1).slice(0, 1)

const outputBytesMax = 1e8
let missed = 0
assert(!(await isNoticed(undefined)), 'the tests pass as long as nothing is turned')
for (const [index, mutation] of chosen.entries()) {
  const noticed = await isNoticed(mutation)
  if (!noticed) missed++
  const { file, line, turned } = mutation
  process.stdout.write(
    `${noticed ? 'noticed' : 'MISSED '}  ${index + 1} of ${chosen.length}  ${file}: ${line}  ->  ${turned === '' ? '(nothing)' : turned}\n`,
  )
}
process.stdout.write(`${chosen.length - missed} of ${chosen.length} mutations noticed\n`)
process.exitCode = missed === 0 ? 0 : 1

/** Whether a test fails with it; with nothing turned, whether one fails anyway. */
async function isNoticed(mutation: Mutation | undefined): Promise<boolean> {
  const copy = await makeTemporaryDirectory()
  try {
    for (const name of [
      'src',
      'test',
      'migrations',
      'docs',
      'scripts',
      'package.json',
      'tsconfig.json',
      'vitest.config.ts',
    ])
      await cp(join(root, name), join(copy.path, name), { recursive: true })
    await symlink(join(root, 'node_modules'), join(copy.path, 'node_modules'))
    if (mutation !== undefined) await turn(join(copy.path, 'src', mutation.file), mutation)
    return await fails(copy.path, mutation?.tests ?? [...verification, ...decider])
  } finally {
    await copy.remove()
  }
}

async function turn(path: string, { line, turned }: Mutation): Promise<void> {
  const source = await readFile(path, 'utf8')
  assert(source.includes(line), `${path} contains ${line}`)
  await writeFile(path, source.replace(line, turned))
}

function fails(folder: string, tests: readonly string[]): Promise<boolean> {
  return new Promise((settle) => {
    execFile('npx', ['vitest', 'run', '--bail', '1', ...tests], { cwd: folder, maxBuffer: outputBytesMax }, (error) =>
      settle(error !== null),
    )
  })
}
