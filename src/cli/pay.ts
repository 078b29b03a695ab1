import { join } from 'node:path'
import { Command } from 'commander'
import { runPayCommand } from '@tollbook/client/command/payCommand'
import { payHelp, payOptionNames } from '@tollbook/client/command/payArguments'
import { tabHelp, tabOptionNames } from '@tollbook/client/command/tabCommand'
import type { CommandDeps } from './commandDeps.ts'
import { readLocal } from './localJson.ts'
import { refuseMistyped } from './mistypedOption.ts'

/** The command is in packages/client, so that a payer does not need the server. This file adds the facts of local mode. */
export function payCommand(deps: CommandDeps): Command {
  const command = new Command('pay')
    .description('request a paid endpoint, pay its price up to a limit, and print the data and the receipt')
    .usage('[options] [method] [path]')
    .argument('[words...]')
    .allowUnknownOption()
    .action(async () => {
      const { stdout, stderr, interrupted, clock } = deps
      refuseMistyped(command, command.args[0] === 'tab' ? tabOptionNames : payOptionNames)
      const code = await runPayCommand(command.args, {
        name: 'tollbook pay',
        stdout,
        stderr,
        interrupted,
        paymentFolder: join(deps.home(), 'payments'),
        readLocal: () => readLocal(deps),
        clock,
      })
      deps.setExitCode(code)
    })
  // Show the help of packages/client, because its command parses its own options.
  command.helpInformation = () =>
    (command.args[0] === 'tab' ? tabHelp : `${payHelp}\n${tabHelp}`).replaceAll('tollbook-pay', 'tollbook pay')
  return command
}
