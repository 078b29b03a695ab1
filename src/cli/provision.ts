import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { provisionService, withdrawProvision } from './local/provisionService.ts'
import { requireUrl } from './sealSource.ts'

interface ProvisionOptions {
  readonly rpcUrl: string
  readonly baseUrl: string
  readonly variablesFile: string
}

/**
 * Local mode creates mint, wallets and receipt key in its own process, so services in several containers need this
 * command.
 */
export function provisionCommand(): Command {
  return (
    new Command('provision')
      .description(
        'put a service token and wallets on a local chain, for services that start elsewhere (docs/deploy.md)',
      )
      .requiredOption('--rpc-url <url>', 'the local chain; the command waits for it up to a minute')
      .requiredOption('--base-url <url>', 'base URL of the service for its callers')
      // Do not name the option `--env-file`, because Node reads that option itself, at any position.
      .requiredOption('--variables-file <file>', 'file for the variables of the service, including its receipt key')
      .addHelpText(
        'after',
        '\nKeys and local.json stay in TOLLBOOK_HOME. If SOLANA_RPC_URLS is set, nothing is created and the file is removed.',
      )
      .action(provision)
  )
}

async function provision({ variablesFile: envFile, ...urls }: ProvisionOptions): Promise<void> {
  const rpcUrl = requireUrl('--rpc-url', urls.rpcUrl)
  const baseUrl = requireUrl('--base-url', urls.baseUrl)
  const { chain, local } = readConfig()
  if (chain !== undefined) {
    await withdrawProvision(envFile)
    process.stdout.write('SOLANA_RPC_URLS is set: nothing to provision\n')
    return
  }
  await provisionService({ home: local.home, rpcUrl, baseUrl, envFile })
  process.stdout.write(`provisioned: the service starts with node --env-file=${envFile}\n`)
}
