import '@tollbook/core/quietBindings'
import { parseArgs } from 'node:util'
import { readKeypair } from '@tollbook/client/keypairFile'
import { assert, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { readConfig } from '../../../src/config.ts'
import { openPayout } from '../../../src/payout/openPayout.ts'
import { readPlanFile } from '../../../src/cli/payoutArguments.ts'
import { silentLog } from '../../../src/machine/log.ts'
import { dyingAt, holdersDeaths } from './holdersDeath.ts'

/* `tollbook payout holders pay` as a process for the proof: `node holdersProcess.ts PLAN KEYPAIR [STEP]`. With a step it dies there. */

const [planFile = '', keypairFile = '', step] = parseArgs({ allowPositionals: true }).positionals
const death = holdersDeaths.find((known) => known === step)
assert(step === undefined || death !== undefined, `${step} is a step of the payout`)
const { payout: settings, chain } = readConfig()
const payout = await openPayout({
  ...assertPresent(chain, 'there is a chain'),
  databaseUrl: assertPresent(settings.databaseUrl, 'there is a database'),
  clock: systemClock,
  log: silentLog,
  seam: (deps) => dyingAt(death, deps),
})
const wallet = await readKeypair(keypairFile)
await payout.holders.pay({
  plan: await readPlanFile('<plan>', planFile),
  feePayer: wallet.address,
  signers: [wallet],
  signal: new AbortController().signal,
  onProgress: (recorded) => void process.stdout.write(`${recorded}\n`),
})
await payout.close()
