import type { AuditReport, Verdict, VerdictStatus } from './auditReport.ts'
import { aspects, isUnjudged } from './findings.ts'

const names = {
  integrity: 'integrity',
  arithmetic: 'arithmetic',
  completeness: 'completeness',
  chainTruth: 'chain truth',
} as const

const words: Readonly<Record<VerdictStatus, string>> = {
  holds: 'holds',
  broken: 'BROKEN',
  not_re_checkable: 'not re-checkable in part',
  not_checked: 'not proven',
}

const shownMax = 20

export function describeAudit(report: AuditReport): string {
  const { events, payments, treeSize, root, findings, resumedAfter, durationMs } = report
  const seconds = (durationMs / 1000).toFixed(1)
  const resumed = resumedAfter === null ? '' : `, resumed after position ${resumedAfter}`
  const shown = findings.slice(0, shownMax)
  const judged = aspects.reduce((sum, aspect) => sum + report.verdicts[aspect].findings, 0)
  const count = judged + findings.filter(isUnjudged).length
  return [
    `${events} events of ${payments} payments in ${seconds} s${resumed}`,
    `tree size ${treeSize}, root ${root}`,
    ...report.burns.map(describeBurns),
    '',
    ...aspects.flatMap((aspect) => describeVerdict(names[aspect], report.verdicts[aspect])),
    ...(shown.length > 0 ? ['', `findings, ${shown.length} of ${count}:`] : []),
    ...shown.map(({ position, code, subject, message }) => {
      return `  ${position === undefined ? '' : `position ${position}, `}${code}, ${subject}: ${message}`
    }),
    '',
  ]
    .map(printable)
    .join('\n')
}

// Control, format and separator characters. A dishonest ledger could clear the terminal with them, and forge a verdict.
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Returns a line with its unprintable characters as escapes such as `\u{1b}`. */
export function printable(line: string): string {
  return line.replace(unprintable, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

function describeBurns(burns: AuditReport['burns'][number]): string {
  const { mint, insidePaymentsBaseUnits, confirmedBaseUnits, confirmedRounds, owedBaseUnits } = burns
  const later = `${confirmedBaseUnits} in ${confirmedRounds} rounds of owed burns`
  return `burned base units of ${mint}: ${insidePaymentsBaseUnits} inside payments, ${later}; still owed ${owedBaseUnits}`
}

function describeVerdict(
  name: string,
  { status, firstBad, findings, checked, notChecked }: Verdict,
): readonly string[] {
  const where = firstBad?.position === undefined ? '' : `, first at position ${firstBad.position}`
  return [
    `${name.padEnd(13)} ${words[status]}${findings > 0 ? `: ${findings} ${findings === 1 ? 'finding' : 'findings'}${where}` : ''}`,
    ...checked.map((what) => `              checked: ${what}`),
    ...notChecked.map((what) => `              not checked: ${what}`),
  ]
}
