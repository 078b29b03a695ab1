import { besideChain } from './conflicts.ts'
import type { MistypedVariable } from './mistypedVariables.ts'
import type { GivenVariables } from './variables.ts'

/**
 * Mode of a start. `operated` refuses a configuration with gaps. `local` refuses the variables of an operator.
 * `unless-operated` (`npm start`) is local mode if no variable of an operator is set, and otherwise `operated`. A
 * service that started local mode by mistake would sell its answers for worthless test tokens.
 */
export type StartMode = 'operated' | 'local' | 'unless-operated'

export interface StartVariables {
  readonly given: GivenVariables
  readonly set: readonly string[]
  readonly mistyped: readonly MistypedVariable[]
}

/** Local mode uses its own values instead. */
const needed = [
  ['DATABASE_URL', "the login of the service on the ledger's database"],
  ['SOLANA_RPC_URLS', 'the nodes of the chain on which callers pay'],
  ...besideChain,
  ['RECEIPT_SIGNING_KEY', 'make one with `tollbook key new`'],
] as const

/**
 * Variables that only an operator sets. A database, a bucket or a non-loopback listener also shows that an operator
 * configured the service.
 */
const ofOperator = new Set<string>([
  ...needed.map(([name]) => name),
  'REQUIRE_SYNCHRONOUS_STANDBY',
  'SOLANA_QUORUM_ABOVE_USD',
  'LEDGER_ORIGIN',
  'CHECKPOINT_FILE',
  'PUBLIC_URL',
  'TRUSTED_PROXY_HOPS',
  'FEE_PAYER_KEYPAIR',
  'FINANCE_PORT',
  'FINANCE_ISSUER',
  'FINANCE_JWKS_URL',
  'PROVIDER_TERMS_ACCEPTED',
])
const ofOperatorPattern = /DATABASE_URL$|^ARTIFACT_S3_|^SIGNER_/
const listenerHosts = ['HOST', 'HEALTH_HOST', 'FINANCE_HOST']

const none: { readonly mistakes: readonly string[]; readonly advice: readonly string[] } = { mistakes: [], advice: [] }

/** `advice` follows the mistakes, and is not one of them. */
export function findStartMistakes(mode: StartMode, variables: StartVariables) {
  const operated = operatorVariables(variables)
  const names = operated.join(', ')
  if (mode === 'local')
    return operated.length === 0
      ? none
      : { ...none, mistakes: [`local mode takes no variables of an operator: remove ${names}`] }
  if (mode === 'unless-operated' && operated.length === 0) return none
  const missing = needed.filter(([name]) => !variables.set.includes(name))
  const mistakes = missing.map(([name, why]) => `${name} is missing: ${why}`)
  return { mistakes, advice: missing.length === 0 ? [] : [gapAdvice(names)] }
}

function gapAdvice(operated: string): string {
  return operated === ''
    ? 'nothing of an operator is set: set these five, or start local mode with `npm start` or `tollbook serve --local`'
    : `local mode has a separate ledger and does not start with variables of an operator: set what is missing, or remove ${operated}`
}

/** A mistyped name counts as the variable that was probably meant, so that a typing mistake cannot start local mode. */
function operatorVariables({ given, set, mistyped }: StartVariables): readonly string[] {
  const misspelt = mistyped.filter(({ meant }) => isOfOperator(meant)).map(({ name }) => name)
  const hosts = listenerHosts.filter((name) => !isLoopback(given[name] ?? 'localhost'))
  return [...set.filter(isOfOperator), ...hosts, ...misspelt]
}

function isOfOperator(name: string): boolean {
  const plain = name.replace(/_FILE$/, '')
  // Also compare the full name, because the name CHECKPOINT_FILE itself ends with `_FILE`.
  return [name, plain].some((one) => ofOperator.has(one) || ofOperatorPattern.test(one))
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}
