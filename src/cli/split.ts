import type { Command } from 'commander'
import { parseSplit } from '../config.ts'
import type { CommandDeps } from './commandDeps.ts'
import { settingCommand } from './settingChange.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

export function splitCommand(deps: CommandDeps): Command {
  return settingCommand(deps, {
    setting: 'split',
    command: 'split',
    description: 'list and change the split of each payment',
    values: 'splits',
    change: {
      verb: 'change',
      description: 'record the split for all price lists from now on',
      argument: '<split>',
      argumentDescription: 'the new SPLIT, such as burn:30,provider:50,holders:15,treasury:5',
      // A price list states its split, so the next list has the new one and quotes of earlier lists keep theirs.
      takesEffectAtOnce: true,
      read: readSplit,
    },
  })
}

function readSplit(text: string) {
  const split = parseSplit(text)
  if (!split.ok) throw new UsageProblem('SPLIT', split.problems.join('; '))
  return split.value.map(({ account, perMille }) => ({ account, perMille }))
}
