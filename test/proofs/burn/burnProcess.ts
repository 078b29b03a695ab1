import '@tollbook/core/quietBindings'
import { parseArgs } from 'node:util'
import { assert, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { openBurner } from '../../../src/burn/openBurner.ts'
import { readSigningKey } from '../../../src/cli/signingKey.ts'
import { readConfig } from '../../../src/config.ts'
import { silentLog } from '../../../src/machine/log.ts'
import { type BurnDeath, burnDeaths, dyingAt } from './burnDeath.ts'

/*
 * The burn job as a process, configured as `tollbook burn`, for the proof: `node burnProcess.ts [STEP]`. With a step it
 * runs until it dies there. Without one it ends what is open, burns what is owed, and prints the outcome of its last
 * run.
 */

const { positionals } = parseArgs({ allowPositionals: true })
const death = positionals[0] === undefined ? undefined : burnDeaths.find((step) => step === positionals[0])
assert(positionals[0] === undefined || death !== undefined, `${positionals[0]} is a step of the job`)
const { burn, chain } = readConfig()
const burner = await openBurner({
  ...assertPresent(chain, 'there is a chain'),
  databaseUrl: assertPresent(burn.databaseUrl, 'there is a database'),
  key: await readSigningKey('BURN_KEYPAIR', assertPresent(burn.keypairFile, 'there is a delegate')),
  clock: systemClock,
  log: silentLog,
  seam: (deps) => dyingAt(death satisfies BurnDeath | undefined, deps),
})

const pauseMs = 250
const runsMax = 400
let outcome = await burner.burnOnce()
for (let run = 1; run < runsMax; run++) {
  if (death === undefined && outcome.outcome === 'nothing_owed') break
  // A purchase of the last moment is owed when it is final.
  if (outcome.outcome === 'nothing_owed') await systemClock.sleep(pauseMs)
  outcome = await burner.burnOnce()
}
process.stdout.write(`${outcome.outcome}\n`)
await burner.close()
