import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { provisionService, withdrawProvision } from './local/provisionService.ts'

interface ProvisionOptions {
  readonly rpcUrl: string
  readonly baseUrl: string
  readonly settingsFile: string
}

export function provisionCommand(): Command {
  return (
    new Command('provision')
      .description(
        'put a service token and wallets on a local chain, for services that start elsewhere (docs/deploy.md)',
      )
      .requiredOption('--rpc-url <url>', 'the local chain; waited for, a minute at most')
      .requiredOption('--base-url <url>', 'where callers will reach the service')
      // Not `--env-file`: Node takes that for itself, wherever it stands.
      .requiredOption('--settings-file <file>', 'where the settings of the service go, its receipt key among them')
      .addHelpText(
        'after',
        '\nKeys and local.json stay in TOLLBOOK_HOME. With SOLANA_RPC_URLS set the chain is yours: nothing is made, and the file is removed.',
      )
      .action(provision)
  )
}

async function provision({ rpcUrl, baseUrl, settingsFile }: ProvisionOptions): Promise<void> {
  const { chain, local } = readConfig()
  if (chain !== undefined) {
    await withdrawProvision(settingsFile)
    process.stdout.write('SOLANA_RPC_URLS is set: nothing to provision\n')
    return
  }
  await provisionService({ home: local.home, rpcUrl, baseUrl, settingsFile })
  process.stdout.write(`provisioned: the service starts with node --env-file=${settingsFile}\n`)
}
