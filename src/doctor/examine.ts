import { systemClock } from '@tollbook/core/clock'
import { type Chain, openChain } from '../chain/openChain.ts'
import { type Config, isServiceConfig, mistypedVariables, type ServiceConfig } from '../config.ts'
import type { FindDifferingFunctions } from '../store/migrate.ts'
import type { Log } from '../machine/log.ts'
import { type Login, openLogin } from '../store/databaseFacts.ts'
import { postJson } from '../outbound/postJson.ts'
import { chainChecks } from './chainChecks.ts'
import { type Check, type CheckFinding, passed, runChecks, skipped, warning } from './check.ts'
import { databaseChecks } from './databaseChecks.ts'
import { ledgerChecks } from './ledgerChecks.ts'
import { checkTabs } from './tabChecks.ts'
import { localChecks, machineChecks } from './machineChecks.ts'

export interface Examination {
  readonly config: Config
  readonly log: Log
  readonly onFinding: (finding: CheckFinding) => void
  readonly findDifferingFunctions: FindDifferingFunctions
}

/** Checks an installation with the configuration of its service. Changes nothing. */
export async function examine({ config, log, onFinding, findDifferingFunctions }: Examination): Promise<void> {
  if (!isServiceConfig(config)) return runChecks([variablesCheck, ...localChecks(config)], onFinding)
  // Open two connections, because the lock check needs two sessions.
  const login = openLogin({ databaseUrl: config.ledger.databaseUrl, connectionsMax: 2, log })
  try {
    await runChecks(
      [variablesCheck, ...machineChecks(config), ...serviceChecks(config, { login, log, findDifferingFunctions })],
      onFinding,
    )
  } finally {
    await login.database.destroy()
  }
}

/** A restored database is checked without a chain and a configuration. */
export interface RestoredLedger extends Omit<Examination, 'config' | 'findDifferingFunctions'> {
  readonly serviceUrl: string
  readonly ownerUrl: string
}

// Checks that apply to a restored database. The others judge the clock, the standbys and the archive of a running
// service.
const checksOfRestored = new Set([
  'database',
  'schema',
  'login',
  'grants',
  'append-only triggers',
  'durability',
  'advisory locks',
])

/** Runs the checks that a restored cluster must pass before it serves callers. Changes nothing. */
export async function examineRestored({ serviceUrl, ownerUrl, log, onFinding }: RestoredLedger): Promise<void> {
  const login = openLogin({ databaseUrl: serviceUrl, connectionsMax: 2, log })
  try {
    const options = { requiresStandby: false, ownerUrl, login, clock: systemClock, log }
    const checks = databaseChecks(options).filter(({ name }) => checksOfRestored.has(name))
    await runChecks(checks, onFinding)
  } finally {
    await login.database.destroy()
  }
}

interface CheckDeps extends Pick<Examination, 'log' | 'findDifferingFunctions'> {
  readonly login: Login
}

const variablesCheck: Check = {
  name: 'configuration',
  run() {
    // The service ignores a mistyped variable, so its default would apply unnoticed.
    const mistyped = mistypedVariables().map(({ name, meant }) => `${name} (did you mean ${meant}?)`)
    if (mistyped.length === 0) return passed('every variable is valid')
    return warning(`not read: ${mistyped.join(', ')}`, 'correct or remove them')
  },
}

function serviceChecks(config: ServiceConfig, { login, log, findDifferingFunctions }: CheckDeps): readonly Check[] {
  const clock = systemClock
  const { ledger, migrationDatabaseUrl: ownerUrl, currencies } = config
  let opened: Promise<Chain> | undefined
  const chain = () => (opened ??= openChain({ ...config.chain, currencies: currencies.accepted, clock, log, postJson }))
  const installation = { config, database: login.database, chain, clock, log }
  const ofDatabase = { requiresStandby: ledger.requiresStandby, ownerUrl, login, clock, log, findDifferingFunctions }
  const [ofTerms, ...ofChain] = chainChecks(chain)
  // Report a chain that cannot be opened once.
  const needing = ({ name, run }: Check): Check => ({
    name,
    run: () => chain().then(run, () => skipped('the chain cannot be opened')),
  })
  const { settings, checkpoint } = ledgerChecks(installation)
  return [
    ...databaseChecks(ofDatabase),
    ofTerms,
    ...[...ofChain, settings].map(needing),
    checkpoint,
    needing({ name: 'tabs', run: () => checkTabs(installation) }),
  ]
}
