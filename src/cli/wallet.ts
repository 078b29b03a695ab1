import type { Command } from 'commander'
import { readAddress } from '@tollbook/core/address'
import { agentCommand } from './agent.ts'
import type { CommandDeps } from './commandDeps.ts'
import { settingCommand } from './settingChange.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

/** `tollbook wallet`: lists and changes the wallet that receives payments, and serves the wallet of an agent. */
export function walletCommand(deps: CommandDeps): Command {
  return settingCommand(deps, {
    setting: 'payment-wallet',
    command: 'wallet',
    description: 'list and change the wallet that receives payments; serve the wallet of an agent',
    values: 'payment wallets',
    more: [agentCommand(deps, 'serve', ['wallet', 'serve']), tabWalletCommand(deps)],
    change: {
      verb: 'change',
      description: 'record the wallet that receives payments from a given time; moves no tokens',
      argument: '<address>',
      argumentDescription: 'the new PAYMENT_WALLET; its token account has to exist before instances start with it',
      read: readWallet,
    },
  })
}

function tabWalletCommand(deps: CommandDeps): Command {
  return settingCommand(deps, {
    setting: 'tab-wallet',
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

function readWallet(address: string): string {
  if (readAddress(address) !== undefined) return address
  throw new UsageProblem('ADDRESS', `must be a Solana address (got ${address})`)
}
