import type { TablesRead } from './auditDatabase.ts'
import { type BurnFigures, burnFiguresOf } from './burnFigures.ts'
import type { ChainAudit } from './chainAudit.ts'
import type { Checkpoints } from './checkpoints.ts'
import { type Aspect, aspects, type Finding, type Findings } from './findings.ts'
import { holderFigures } from './kinds/holderPayout.ts'
import type { Replay } from './replay.ts'
import type { StoredTransactions } from './storedTransactions.ts'

/**
 * `holds`: every check that was made passed. `broken`: a check failed. `not_re_checkable`: no check failed, but a part
 * could not be checked, for example because the node has pruned it. `not_checked`: the checks were not requested, or
 * their data was missing.
 */
export type VerdictStatus = 'holds' | 'broken' | 'not_re_checkable' | 'not_checked'

export interface Verdict {
  readonly status: VerdictStatus
  /** Finding at the lowest position. Null without findings. */
  readonly firstBad: Finding | null
  readonly findings: number
  /** Descriptions of the checks on which the verdict is based, with figures. */
  readonly checked: readonly string[]
  /** Descriptions of the checks that were omitted, with the reason. */
  readonly notChecked: readonly string[]
}

/** The result of an audit, as `--json` prints it. Amounts are decimal texts of base units. */
export interface AuditReport {
  readonly source: string
  readonly events: number
  readonly payments: number
  readonly treeSize: number
  /** Root hash of the Merkle tree over all events, in base64 as in checkpoints. */
  readonly root: string
  readonly verdicts: Readonly<Record<Aspect, Verdict>>
  readonly findings: readonly Finding[]
  readonly balances: readonly { readonly mint: string; readonly account: string; readonly baseUnits: string }[]
  readonly burns: readonly BurnFigures[]
  readonly resumedAfter: number | null
  readonly durationMs: number
}

/** Exit codes of the command. The codes 0 and 3 to 7 state the verdict, so that a script can distinguish the verdicts. */
export const auditExitCodes = {
  holds: 0,
  failed: 1,
  usage: 2,
  notReCheckable: 3,
  incomplete: 4,
  chainContradicts: 5,
  arithmeticWrong: 6,
  integrityBroken: 7,
  interrupted: 130,
} as const

const brokenCodes: Readonly<Record<Aspect, number>> = {
  integrity: auditExitCodes.integrityBroken,
  arithmetic: auditExitCodes.arithmeticWrong,
  chainTruth: auditExitCodes.chainContradicts,
  completeness: auditExitCodes.incomplete,
}

/** Returns the highest exit code of all aspects, so a broken aspect outranks a part that can no longer be checked. */
export function exitCodeOf({ verdicts }: AuditReport): number {
  const codes = aspects.map((aspect) => {
    const { status } = verdicts[aspect]
    if (status === 'broken') return brokenCodes[aspect]
    return status === 'not_re_checkable' ? auditExitCodes.notReCheckable : auditExitCodes.holds
  })
  return Math.max(...codes)
}

interface Audited extends TablesRead {
  readonly replay: Replay
  readonly checkpoints: Checkpoints
  readonly stored: StoredTransactions | undefined
  readonly chain: ChainAudit | undefined
  readonly source: 'database' | 'export'
  readonly resumedAfter: number | undefined
  readonly durationMs: number
}

export function reportOf(audited: Audited): AuditReport {
  const { replay, source, resumedAfter, durationMs } = audited
  const { findings, postings, tree } = replay
  return {
    source,
    events: tree.size,
    payments: replay.streams.payments(),
    treeSize: tree.size,
    root: tree.root().toString('base64'),
    verdicts: {
      integrity: verdictOf(findings, 'integrity', integrityBasis(audited)),
      arithmetic: verdictOf(findings, 'arithmetic', arithmeticBasis(audited)),
      completeness: verdictOf(findings, 'completeness', completenessBasis(audited)),
      chainTruth: verdictOf(findings, 'chainTruth', chainBasis(audited)),
    },
    findings: aspects.flatMap((aspect) => findings.of(aspect)),
    balances: [...postings.accounts()].map(({ mint, account, balanceBaseUnits }) => {
      return { mint, account, baseUnits: balanceBaseUnits.toString() }
    }),
    burns: burnFiguresOf(replay),
    resumedAfter: resumedAfter ?? null,
    durationMs,
  }
}

interface Basis {
  readonly checked: readonly string[]
  readonly notChecked: readonly string[]
  readonly notReCheckable?: number
  /** True if too little was checked for a verdict. The status is then `not_checked`, unless there is a finding. */
  readonly insufficient?: boolean
}

/**
 * Returns the verdict of an aspect. Every finding except `kind_unknown` breaks the aspect, even if other checks were
 * impossible.
 */
function verdictOf(findings: Findings, aspect: Aspect, basis: Basis): Verdict {
  const { checked, notChecked, notReCheckable = 0, insufficient = false } = basis
  const count = findings.countOf(aspect)
  const unbroken = notReCheckable > 0 ? 'not_re_checkable' : 'holds'
  return {
    status: count > 0 ? 'broken' : insufficient ? 'not_checked' : unbroken,
    firstBad: findings.first(aspect) ?? null,
    findings: count,
    checked,
    notChecked,
  }
}

function only(isSaid: boolean, text: string): readonly string[] {
  return isSaid ? [text] : []
}

function integrityBasis({ replay, checkpoints, source, resumedAfter, functions }: Audited): Basis {
  const { coveredSize, figures } = checkpoints
  // A checkpoint of the empty tree proves nothing about the events of a ledger.
  const isAnyCompared = coveredSize >= Math.min(1, replay.tree.size)
  const uncoveredEvents = replay.tree.size - coveredSize
  const { compared, skipped, verified, unverified } = figures
  const isDatabase = source === 'database'
  const isOtherRelease = isDatabase && functions === undefined
  const { compared: functionsCompared = 0, unknown = [] } = functions ?? {}
  return {
    checked: [
      `${replay.tree.size} bodies read and hashed again, and their tree`,
      ...only(isDatabase, 'the kinds, steps and classes that the database enforces'),
      ...only(functionsCompared > 0, `${functionsCompared} functions of the database, which are those of this release`),
      ...only(replay.tiles.compared > 0, `${replay.tiles.compared} stored tiles`),
      ...only(compared > 0, `${compared} checkpoints compared, the signatures of ${verified} verified`),
    ],
    notChecked: [
      ...only(unverified > 0, `the signatures of ${unverified} checkpoints: no --verifier-key`),
      ...only(!isAnyCompared, uncompared),
      ...only(isAnyCompared && uncoveredEvents > 0, `the last ${uncoveredEvents} events: no checkpoint covers them`),
      ...only(
        skipped > 0,
        `${skipped} checkpoints up to position ${resumedAfter}: only an audit without the resume file compares them`,
      ),
      ...only(isOtherRelease, otherFunctions),
      ...only(unknown.length > 0, `${unknownSql}: ${unknown.join(', ')}`),
    ],
    notReCheckable: unknown.length + (isOtherRelease ? 1 : 0),
    insufficient: !isAnyCompared,
  }
}

const otherFunctions = 'the functions of the database: another release than that of this audit has migrated it'
const unknownSql = 'SQL that this audit does not know, perhaps of a newer release'
const uncompared = 'no checkpoint could be compared: a ledger whose hashes were all made again looks like the true one'

function arithmeticBasis({ replay, source, reportsUpto }: Audited): Basis {
  const tables = 'postings, accounts with their limits, and hourly tallies'
  const reports = 'the tables of the finance reports'
  const isDatabase = source === 'database'
  const areReportsRead = isDatabase && reportsUpto !== undefined
  const { derived, underived } = holderFigures(replay.state)
  const unjudged = replay.findings.unjudgedCount()
  return {
    checked: [
      `the lifecycles, prices and splits of ${replay.streams.payments()} payments, and double entry derived from them`,
      ...only(derived > 0, `the lines of ${derived} payouts to holders, derived from their snapshots`),
      ...only(isDatabase, `${tables} as they are stored`),
      ...only(areReportsRead, `${reports}, which have reached position ${reportsUpto}`),
    ],
    notChecked: [
      ...only(underived > 0, `the lines of ${underived} payouts to holders: no --snapshot has their digest`),
      ...only(unjudged > 0, `the streams of ${unjudged} kinds that this auditor does not know`),
      ...only(!isDatabase, `${tables}, and ${reports}, as they are stored: an export has events only`),
      ...only(
        isDatabase && !areReportsRead,
        `${reports}: the role may not read them, or a body they are derived from is damaged`,
      ),
    ],
    notReCheckable: underived + unjudged,
  }
}

function completenessBasis({ replay, source, chain, areKeysRead }: Audited): Basis {
  const registry = 'the streams that make a payment single-use, settings, paid quotes and the head'
  const isDatabase = source === 'database'
  const { lookedFor = 0, presentable = 0 } = chain?.figures ?? {}
  const young = `${presentable} transfers on chain that may still be presented or confirmed: too young for the ledger to have them`
  return {
    checked: [
      `positions 1 to ${replay.position} and the versions of every stream`,
      ...only(isDatabase, registry),
      ...only(areKeysRead, 'the keys of burn rounds'),
      ...only(chain !== undefined, `${lookedFor} transactions of the payment token account`),
    ],
    notChecked: [
      ...only(!isDatabase, `${registry}: an export has events only`),
      ...only(isDatabase && !areKeysRead, 'the keys of burn rounds: the role may not read them'),
      ...only(chain === undefined, 'payments on chain that the ledger does not have: no --chain'),
      ...only(presentable > 0, young),
    ],
  }
}

function chainBasis({ stored, chain }: Audited): Basis {
  const { signed = 0, amountsShown = 0, withoutBytes = 0 } = stored?.figures ?? {}
  const { confirmed = 0, dropped = 0, pruned = 0, notFinal = 0 } = chain?.figures ?? {}
  const signatures = `${signed} stored transactions are signed, ${amountsShown} show their amounts themselves`
  return {
    checked: [
      ...only(stored !== undefined, signatures),
      ...only(chain !== undefined, `${confirmed} payments confirmed by a node`),
      ...(chain?.custody ?? []),
      ...only(dropped > 0, `${dropped} payments and burns that the chain has dropped, as recorded`),
    ],
    notChecked: [
      ...only(withoutBytes > 0, `${withoutBytes} payments are kept without bytes`),
      ...only(pruned > 0, `${pruned} payments are older than what the node has`),
      ...only(notFinal > 0, `${notFinal} payments are not final yet`),
      ...only(chain === undefined, 'whether the payments landed: no --chain'),
    ],
    notReCheckable: pruned + notFinal,
    insufficient: chain === undefined,
  }
}
