import { join } from 'node:path'
import { Command } from 'commander'
import { Fault } from '@tollbook/core/fault'
import { type Config, readConfig } from '../config.ts'
import { openDiagnosis } from '../diagnosis/openDiagnosis.ts'
import { subjectForms } from '../diagnosis/readSubject.ts'
import { silentLog } from '../primitives/log.ts'
import type { CommandDeps } from './commandDeps.ts'
import { explanationText } from './explanationText.ts'
import { type LocalJson, readLocalJson } from './localJson.ts'
import { rethrowAsUsage, usageExitCode } from './usageProblem.ts'

const unknownExitCode = 4
const unavailableExitCode = 7

const exitHelp = `
DATABASE_URL is a login of tollbook_service or tollbook_reader. SOLANA_RPC_URLS, TOKEN_MINT and PAYMENT_WALLET name the
chain. Local mode is found by itself.

Exit codes:
  0  explained
  2  not called right
  4  no quote or receipt with this id is on record
  7  the database does not answer`

/** `tollbook explain`: what happened to one payment, for support staff. */
export function explainCommand(deps: CommandDeps): Command {
  return new Command('explain')
    .description('explain one payment: what chain and ledger say, each rule, each attempt, and what to do next')
    .argument('<subject>', 'signature, reference, receipt id or quote id')
    .option('--json', 'one JSON object, for programs')
    .addHelpText('after', exitHelp)
    .exitOverride(rethrowAsUsage)
    .configureOutput({
      writeOut: (text) => void deps.stdout.write(text),
      writeErr: (text) => void deps.stderr.write(text),
    })
    .action(async (subject: string, flags: { readonly json?: boolean }) => {
      deps.setExitCode(await explainOne(deps, subject, flags.json === true))
    })
}

async function explainOne(deps: CommandDeps, subject: string, asJson: boolean): Promise<number> {
  const diagnosis = await openDiagnosis(await optionsOf(deps))
  try {
    const found = await diagnosis.explain(subject)
    if (found === 'unreadable') {
      deps.stderr.write(`<subject> must be ${subjectForms} (got ${subject.slice(0, 100)})\n`)
      return usageExitCode
    }
    if (found === 'unknown') {
      deps.stderr.write(
        `${subject} is not on record. Quotes are kept for days: explain the signature of the payment.\n`,
      )
      return unknownExitCode
    }
    deps.stdout.write(asJson ? `${JSON.stringify(found)}\n` : explanationText(found, diagnosis.decimals))
    return 0
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    deps.stderr.write(`${error.message}\n`)
    return unavailableExitCode
  } finally {
    await diagnosis.close()
  }
}

/** The service's own settings, or those of local mode. */
async function optionsOf(deps: CommandDeps) {
  const config = readConfig()
  const local = await readLocalJson(join(deps.home(), 'local.json'))
  const databaseUrl = config.ledger?.databaseUrl ?? local?.databaseUrl
  if (databaseUrl === undefined)
    throw new Fault('DATABASE_URL is missing, and local mode does not run here', { retryable: false })
  const { proofMaxAgeMs, quoteGraceMs } = config.sale
  const clock = deps.clock === undefined ? {} : { clock: deps.clock }
  return { databaseUrl, chain: chainOf(config, local), proofMaxAgeMs, quoteGraceMs, log: silentLog, ...clock }
}

function chainOf({ chain }: Config, local: LocalJson | undefined) {
  if (chain !== undefined) return chain
  if (local?.rpcUrl === undefined) return undefined
  return { rpcUrls: [local.rpcUrl], tokenMint: local.tokenMint, paymentWallet: local.paymentWallet }
}
