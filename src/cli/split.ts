import { Command } from 'commander'
import { parseSplit } from '../config.ts'
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

const name = 'split'

/** `tollbook split`: how each payment is divided. */
export function splitCommand(deps: CommandDeps): Command {
  const command = new Command('split').description('list and change the split of each payment')
  command
    .command('list')
    .description('list the splits on record with their periods')
    .action(() => runAsOperator(deps, (ledger) => listSetting(deps, ledger, name)))
  withChangeOptions(
    command
      .command('change')
      .description('record the split that instances publish price lists with from now on')
      .argument('<split>', 'the new SPLIT, such as burn:30,provider:50,holders:15,treasury:5'),
    { takesEffectAtOnce: true },
  ).action((text: string, flags: ChangeFlags) =>
    runAsOperator(deps, (ledger) => changeSetting(deps, ledger, { name, value: readSplit(text), flags })),
  )
  return withSettingExits(deps, command)
}

function readSplit(text: string) {
  const split = parseSplit(text)
  if (!split.ok) throw new UsageProblem('SPLIT', split.problems.join('; '))
  return split.value.map(({ account, perMille }) => ({ account, perMille }))
}
