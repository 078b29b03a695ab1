import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import type { Command } from 'commander'
import { Fault } from '@tollbook/core/fault'
import { useThreads } from '../config.ts'
import type { CommandDeps } from './commandDeps.ts'
import { prepareCommand } from './prepareCommand.ts'

/*
 * Functions that load the code of a command. A command is loaded only when it is called. All commands together take 190
 * MB and two seconds, because they include a server, a browser and a blockchain. An export needs a third of that.
 */

type LoadCommand = (deps: CommandDeps) => Promise<Command>

const commands: ReadonlyMap<string, LoadCommand> = new Map<string, LoadCommand>([
  ['serve', async () => (await import('./serve.ts')).serveCommand('operated')],
  ['demo', async () => (await import('./demo.ts')).demoCommand()],
  ['products', async (deps) => (await import('./products.ts')).productsCommand(deps)],
  ['pay', async (deps) => (await import('./pay.ts')).payCommand(deps)],
  ['mcp', async (deps) => (await import('./agent.ts')).agentCommand(deps, 'mcp', ['mcp'])],
  ['proxy', async (deps) => (await import('./agent.ts')).agentCommand(deps, 'proxy', ['proxy'])],
  ['verify', async (deps) => (await import('./verify.ts')).verifyCommand(deps)],
  ['export', loadExport],
  ['audit', loadAudit],
  ['anchor', async (deps) => (await import('./anchor.ts')).anchorCommand(deps)],
  ['witness', async (deps) => (await import('./witness.ts')).witnessCommand(deps)],
  ['faucet', async (deps) => (await import('./faucet.ts')).faucetCommand(deps)],
  ['payout', async (deps) => (await import('./payout.ts')).payoutCommand(deps)],
  ['burn', async (deps) => (await import('./burn.ts')).burnCommand(deps)],
  ['signer', async () => (await import('./signer.ts')).signerCommand()],
  ['chain', async () => (await import('./chain.ts')).chainCommand()],
  ['provision', async () => (await import('./provision.ts')).provisionCommand()],
  ['doctor', async (deps) => (await import('./doctor.ts')).doctorCommand(deps)],
  ['drill', async (deps) => (await import('./drill.ts')).drillCommand(deps)],
  ['migrate', async () => (await import('./migrate.ts')).migrateCommand()],
  ['key', async (deps) => (await import('./key.ts')).keyCommand(deps)],
  ['wallet', async (deps) => (await import('./wallet.ts')).walletCommand(deps)],
  ['split', async (deps) => (await import('./split.ts')).splitCommand(deps)],
  ['prices', async (deps) => (await import('./prices.ts')).pricesCommand(deps)],
  ['explain', async (deps) => (await import('./explain.ts')).explainCommand(deps)],
  ['reconcile', async (deps) => (await import('./reconcile.ts')).reconcileCommand(deps)],
  ['refund', async (deps) => (await import('./refund.ts')).refundCommand(deps)],
  ['report', loadReport],
])

async function loadExport(deps: CommandDeps): Promise<Command> {
  keepHeapSmall()
  return (await import('./export.ts')).exportCommand(deps)
}

async function loadReport(deps: CommandDeps): Promise<Command> {
  keepHeapSmall()
  const { reportCommand } = await import('./report.ts')
  const { findLedger } = await import('./installation.ts')
  const { findReceiptKey } = await import('./findReceiptKey.ts')
  // Functions, because the help must work without a configuration.
  const databaseUrl = async () => (await findLedger(deps, undefined, 'DATABASE_URL')).databaseUrl
  return reportCommand({ ...deps, databaseUrl, receiptKey: () => findReceiptKey(deps.home()) })
}

async function loadAudit(deps: CommandDeps): Promise<Command> {
  // Use one thread per core, because the audit keeps every core busy with signatures. With four threads on two cores,
  // the threads compete with the reader, and the audit takes a tenth longer.
  useThreads(availableParallelism())
  return (await import('./audit.ts')).auditCommand(deps)
}

/**
 * Loads one command. If the name is missing or unknown, loads all commands, because the help lists them and suggests
 * similar names.
 */
export async function loadCommands(name: string | undefined, deps: CommandDeps): Promise<readonly Command[]> {
  const command = commands.get(name ?? '')
  const loaded =
    command === undefined
      ? await loadInstalled([...commands.values()], deps)
      : [await command(deps).catch(explainMissingPackage)]
  return loaded.map((one) => prepareCommand(one, deps))
}

function explainMissingPackage(error: unknown): never {
  if (!isMissingPackage(error)) throw error
  throw new Fault('this command needs a package that is not installed', { cause: error, retryable: false })
}

/**
 * Loads the commands of this installation. Omits commands whose packages are missing, because an installation may lack
 * the packages of the local chain and of the demo.
 */
export async function loadInstalled(loads: readonly LoadCommand[], deps: CommandDeps): Promise<readonly Command[]> {
  const loaded = await Promise.all(loads.map((load) => load(deps).catch(ignoreMissingPackage)))
  return loaded.filter((command) => command !== undefined)
}

function ignoreMissingPackage(error: unknown): undefined {
  if (!isMissingPackage(error)) throw error
}

function isMissingPackage(error: unknown): error is Error {
  return error instanceof Error && error.message.startsWith('Cannot find package ')
}

/**
 * Limits the heap of commands that read many rows, because V8 prefers more memory to garbage collection. At 102,000
 * events it used 350 MB for 15 MB of live data. With these flags, the space for new objects stays at its initial 2 MB
 * instead of growing to 128 MB. The remaining heap grows by at most half between collections. V8 reads both flags
 * whenever a space is about to grow.
 */
function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=50')
}
