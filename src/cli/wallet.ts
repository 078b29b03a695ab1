import { Command } from 'commander'
import { readAddress } from '@tollbook/core/address'
import type { CommandDeps } from './commandDeps.ts'
import {
  changeSetting,
  type ChangeFlags,
  listSetting,
  runAsOperator,
  withChangeOptions,
  withSettingExits,
} from './settingChange.ts'
import { UsageProblem } from './usageProblem.ts'

const name = 'payment-wallet'

/** `tollbook wallet`: the wallet that receives payments. */
export function walletCommand(deps: CommandDeps): Command {
  const command = new Command('wallet').description('list and change the wallet that receives payments')
  command
    .command('list')
    .description('list the payment wallets on record with their periods')
    .action(() => runAsOperator(deps, (ledger) => listSetting(deps, ledger, name)))
  withChangeOptions(
    command
      .command('change')
      .description('record the wallet that receives payments from a time on; moves no tokens')
      .argument('<address>', 'the new PAYMENT_WALLET; its token account has to exist before instances start with it'),
  ).action((address: string, flags: ChangeFlags) =>
    runAsOperator(deps, (ledger) => {
      if (readAddress(address) === undefined)
        throw new UsageProblem('ADDRESS', `must be a Solana address (got ${address})`)
      return changeSetting(deps, ledger, { name, value: address, flags })
    }),
  )
  return withSettingExits(deps, command)
}
