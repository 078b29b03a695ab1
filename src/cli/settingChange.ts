import { Command } from 'commander'
import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { settingText } from '../settings/configuredSettings.ts'
import { receiptKeyId, publicReceiptKey } from '../settings/receiptKeys.ts'
import {
  type ChangeableSetting,
  decideSettingChange,
  overlapMaxMs,
  type SettingChangeVerdict,
} from '../settings/settingChange.ts'
import { isWithin, periodsOf, type SettingPeriod } from '../settings/settingPeriods.ts'
import { silentLog } from '../machine/log.ts'
import { openSettingChanges, type SettingChanges } from '../store/settingChanges.ts'
import type { CommandDeps } from './commandDeps.ts'
import { readInstallation, requireLogin } from './installation.ts'
import { readDuration } from './duration.ts'
import { printResult, refusedExitCode, runWith } from './runCommand.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

/* The commands `key rotate`, `wallet change`, `wallet tabs change` and `split change`, and their lists, share this file. */

const settingExitHelp = `
The login of OPERATOR_DATABASE_URL is a member of tollbook_operator; in local mode none is needed.

Exit codes:
  0  recorded, or on record already; with --dry-run: it would be recorded
  2  wrong usage
  4  nothing was recorded: the message says why, or --yes is missing
  7  the database does not answer; run the command again`

export interface SettingCommand {
  readonly setting: ChangeableSetting
  /** Returns the setting of the dollar that `--mint` names. Absent if dollars have no separate values. */
  readonly settingOfDollar?: (ledger: SettingChanges, mint: string) => Promise<ChangeableSetting>
  readonly command: string
  readonly description: string
  readonly more?: readonly Command[]
  readonly values: string
  readonly change: {
    readonly verb: string
    readonly description: string
    readonly argument: string
    readonly argumentDescription: string
    readonly takesEffectAtOnce?: boolean
    /** Throws a `UsageProblem` if the value is invalid. */
    readonly read: (text: string) => Json | Promise<Json>
  }
}

export function settingCommand(
  deps: CommandDeps,
  { setting, settingOfDollar, values, change, more = [], ...header }: SettingCommand,
): Command {
  const nameFor = async (ledger: SettingChanges, { mint }: MintFlag) =>
    mint === undefined || settingOfDollar === undefined ? setting : settingOfDollar(ledger, mint)
  const withMint = (each: Command) =>
    settingOfDollar === undefined
      ? each
      : each.option(
          '--mint <mint>',
          'the dollar whose wallet it is: its mint, or a name such as USDC (default: the token)',
        )
  const command = new Command(header.command).description(header.description)
  for (const each of more) command.addCommand(each)
  withMint(command.command('list'))
    .description(`list the ${values} on record with their periods`)
    .action((flags: MintFlag) =>
      runAsOperator(deps, async (ledger) => listSetting(deps, ledger, await nameFor(ledger, flags))),
    )
  const changing = command
    .command(change.verb)
    .description(change.description)
    .argument(change.argument, change.argumentDescription)
  withChangeOptions(withMint(changing), change).action((text: string, flags: ChangeFlags) =>
    runAsOperator(deps, async (ledger) => {
      const value = await change.read(text)
      return changeSetting(deps, ledger, { name: await nameFor(ledger, flags), value, flags })
    }),
  )
  return command.addHelpText('after', settingExitHelp)
}

interface MintFlag {
  readonly mint?: string
}

interface ChangeFlags extends MintFlag {
  readonly validFrom?: string
  readonly overlap: string
  readonly dryRun?: boolean
  readonly yes?: boolean
}

interface SettingChangeOrder {
  readonly name: ChangeableSetting
  readonly value: Json
  readonly flags: ChangeFlags
}

/** Adds the options of a change. A split has no `--valid-from`, because its change takes effect at once. */
function withChangeOptions(command: Command, { takesEffectAtOnce = false }: SettingCommand['change']): Command {
  if (!takesEffectAtOnce)
    command.option(
      '--valid-from <time>',
      'ISO 8601 time, or a duration from now such as 10m (default: 5m; at least 60s)',
    )
  return command
    .option(
      '--overlap <duration>',
      'the value before it stays accepted for this long, such as 90s, 10m, 24h, 7d',
      '24h',
    )
    .option('--dry-run', 'show the change and record nothing')
    .option('--yes', 'record the change')
}

/**
 * Runs the work with a separate login, because the service must not change the settings that it is compared with
 * (decision 0023).
 */
function runAsOperator(deps: CommandDeps, work: (ledger: SettingChanges) => Promise<number>): Promise<void> {
  const open = async () => {
    const { config, local } = await readInstallation(deps)
    const login = ['OPERATOR_DATABASE_URL', 'tollbook_operator'] as const
    const databaseUrl = requireLogin(config.operatorDatabaseUrl ?? local?.adminDatabaseUrl, login)
    return openSettingChanges({ databaseUrl, log: silentLog })
  }
  return runWith(deps, open, work)
}

// Tries to store a change. Another operator may take the next version number first, and the change is then decided
// again.
const triesMax = 3

async function changeSetting(
  deps: CommandDeps,
  ledger: SettingChanges,
  { name, value, flags }: SettingChangeOrder,
): Promise<number> {
  const overlapMs = readDuration('--overlap', flags.overlap, { maxMs: overlapMaxMs })
  for (let tries = 1; tries <= triesMax; tries++) {
    const nowMs = await ledger.nowMs()
    const validFromMs = flags.validFrom === undefined ? undefined : readTime('--valid-from', flags.validFrom, nowMs)
    const periods = await readPeriods(ledger, name)
    const verdict = decideSettingChange(periods, { name, value, validFromMs, overlapMs, nowMs })
    if (verdict.verdict === 'refused') {
      deps.stderr.write(`nothing was recorded: ${verdict.why}\n`)
      return refusedExitCode
    }
    // A command whose outcome was lost can be repeated, so a recorded value is a success.
    if (verdict.verdict === 'recorded') {
      printResult(deps, { recorded: true, ...shownPeriod(verdict.period) }, `${name} has this value already`)
      return 0
    }
    const current = periods.at(-1)
    // Only show the change without --yes, because a recorded change cannot be undone (decision 0023).
    if (flags.yes !== true || flags.dryRun === true) {
      printResult(deps, { recorded: false, ...shownChange(verdict) }, describeChange(verdict, current))
      if (flags.dryRun !== true) deps.stderr.write('nothing was recorded; run the command with --yes to record it\n')
      return flags.dryRun === true ? 0 : refusedExitCode
    }
    const recorded = await ledger.change(verdict.decision)
    if (recorded === undefined) continue
    const { position } = recorded
    printResult(deps, { recorded: true, ...shownChange(verdict), position }, describeChange(verdict, current))
    return 0
  }
  throw new Fault('other changes of this setting are being recorded; run the command again', { retryable: true })
}

async function listSetting(deps: CommandDeps, ledger: SettingChanges, name: ChangeableSetting): Promise<number> {
  const [periods, nowMs] = [await readPeriods(ledger, name), await ledger.nowMs()]
  for (const period of periods) {
    const { number, value, validFrom, untilMs } = period
    const until = untilMs === Infinity ? '' : `, accepted until ${isoTime(untilMs)}`
    const words = `${name}#${number} ${settingText(name, value)} since ${validFrom}${until}`
    printResult(deps, { ...shownPeriod(period), accepted: isWithin(period, nowMs) }, words)
  }
  if (periods.length === 0) deps.stderr.write(`the ledger has no ${name} yet\n`)
  return 0
}

async function readPeriods(ledger: SettingChanges, name: ChangeableSetting): Promise<readonly SettingPeriod[]> {
  return periodsOf((await ledger.versions([name])).get(name) ?? [])
}

type Change = Extract<SettingChangeVerdict, { verdict: 'change' }>

function shownChange({ decision, previousUntilMs }: Change) {
  const [{ name, number, validFrom, value }] = decision.events
  return { setting: name, number, value, validFrom, previousUntil: isoTime(previousUntilMs) }
}

function shownPeriod({ name, number, position, value, validFrom, untilMs }: SettingPeriod) {
  const kid = name === 'receipt-key' ? { kid: receiptKeyId(publicReceiptKey.parse(value)) } : {}
  const until = untilMs === Infinity ? null : isoTime(untilMs)
  return { setting: name, number, value, ...kid, validFrom, until, position }
}

function describeChange({ decision, previousUntilMs }: Change, current: SettingPeriod | undefined): string {
  const [{ name, number, validFrom }] = decision.events
  const before = current === undefined ? '' : settingText(name, current.value)
  const until = isoTime(previousUntilMs)
  return [
    `${name}#${number} takes effect at ${validFrom}.`,
    `  before: ${before}, accepted until ${until}`,
    `Replace the instances between ${validFrom} and ${until}. See docs/operations.md, "Changing a setting of the ledger".`,
  ].join('\n')
}

function readTime(option: string, text: string, nowMs: number): number {
  if (/^\d{1,7}[smhd]$/.test(text)) return nowMs + readDuration(option, text)
  const isTime = /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/.test(text)
  // `Date.parse` reads the 30th of February as the 2nd of March.
  const isOfDay = z.iso.date().safeParse(text.split('T')[0]).success
  const atMs = isTime && isOfDay ? Date.parse(text) : Number.NaN
  if (Number.isNaN(atMs))
    throw new UsageProblem(option, `must be an ISO 8601 time with its zone, or a duration (got ${text})`)
  return atMs
}
