import type { Command } from 'commander'
import { readAddress } from '@tollbook/core/address'
import { possibleMints } from '../payment/dollar.ts'
import { paymentWalletName, type PaymentWalletName, tabWalletName } from '../settings/walletSettings.ts'
import type { SettingChanges } from '../store/settingChanges.ts'
import { agentCommand } from './agent.ts'
import type { CommandDeps } from './commandDeps.ts'
import { settingCommand } from './settingChange.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

export function walletCommand(deps: CommandDeps): Command {
  return settingCommand(deps, {
    setting: paymentWalletName(),
    settingOfDollar: walletOfDollar,
    command: 'wallet',
    description: 'list and change the wallet that receives payments; serve the wallet of an agent',
    values: 'payment wallets',
    more: [agentCommand(deps, 'serve', ['wallet', 'serve']), tabWalletCommand(deps)],
    change: {
      verb: 'change',
      description: 'record the wallet that receives payments from a given time; moves no tokens',
      argument: '<address>',
      argumentDescription:
        'the new PAYMENT_WALLET, or with --mint wallet= of CURRENCIES; its token account has to exist before instances start with it',
      read: readWallet,
    },
  })
}

/** The key of this wallet may have to be replaced while tabs are open, so its change has an overlap too. */
function tabWalletCommand(deps: CommandDeps): Command {
  return settingCommand(deps, {
    setting: tabWalletName,
    command: 'tabs',
    description: 'list and change the wallet that receives deposits on tabs',
    values: 'wallets for tabs',
    change: {
      verb: 'change',
      description: 'record the wallet that receives deposits from a given time; moves no tokens',
      argument: '<address>',
      argumentDescription: 'the new TAB_WALLET; its token account has to exist before instances start with it',
      read: readWallet,
    },
  })
}

/**
 * Returns the setting of a dollar's wallet. A name such as USDC has a different mint on each network, so it stands for
 * the mint whose wallet is in the ledger.
 */
async function walletOfDollar(ledger: SettingChanges, mint: string): Promise<PaymentWalletName> {
  if (readAddress(mint) !== undefined) return paymentWalletName(mint)
  const names = possibleMints({ symbol: mint.toUpperCase(), mint: undefined }).map(paymentWalletName)
  const versions = await ledger.versions(names)
  const found = names.find((name) => (versions.get(name) ?? []).length > 0)
  if (found !== undefined) return found
  throw new UsageProblem(
    '--mint',
    `must be the mint of a dollar, or the name of one on record such as USDC (got ${mint})`,
  )
}

function readWallet(address: string): string {
  if (readAddress(address) !== undefined) return address
  throw new UsageProblem('ADDRESS', `must be a Solana address (got ${address})`)
}
