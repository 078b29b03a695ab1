import { assertNever } from '@tollbook/core/assert'
import { isoTime } from '@tollbook/core/clock'
import type { ConfiguredSetting } from './configuredSettings.ts'
import type { SettingStanding } from './settingPeriods.ts'

/** The moment at which an instance with an outgoing value must stop selling. */
export interface ClosingTime {
  readonly nowMs: number
  /** Time before the end of the value at which the instance stops selling. */
  readonly closingMs: number
}

/** Reason why an instance with this value must not sell. Undefined if it may sell. */
export function standingProblem(
  { name, variable }: ConfiguredSetting,
  standing: SettingStanding,
  { nowMs, closingMs }: ClosingTime,
): string | undefined {
  switch (standing.standing) {
    case 'unrecorded':
      return undefined
    case 'accepted':
      return nowMs < standing.untilMs - closingMs
        ? undefined
        : `${variable} is accepted only until ${isoTime(standing.untilMs)}; restart this instance with the new ${name}`
    case 'not_yet':
      return `${variable} takes effect at ${isoTime(standing.fromMs)}; this instance sells from then on`
    case 'differs':
      return `${variable} is not the ${name} of the ledger since ${standing.inForce.validFrom}; restart this instance with the value on record`
    default:
      return assertNever(standing)
  }
}
