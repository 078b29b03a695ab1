import { z } from 'zod'
import { StateDocument } from '../auditState.ts'
import { utcTime } from '../body.ts'
import { declareStep } from '../declaredKind.ts'
import { noteDecimals } from '../mintDecimals.ts'
import { type AuditedKind, bodyOf, type EventHead, eventOf, type Judged } from './auditedKind.ts'

/* Stream kind for settings. The values of a setting have the numbers 1, 2, 3…, each in a separate stream. */

/** Form of the stream ids of settings and price lists. The id is the name as plain text, of any length. */
export const settingId = {
  space: 3,
  idBytes: 0,
  isSetting: true,
  nameOf: (key: Buffer): string => key.toString('utf8'),
}

const changed = bodyOf('SettingChanged', {
  name: z.string(),
  number: z.int(),
  validFrom: utcTime,
  value: z.json(),
})

export type SettingEvent = z.output<typeof changed>

export function isSettingEvent(event: EventHead): event is SettingEvent {
  return event.kind === 'SettingChanged'
}

export const setting: AuditedKind = {
  kind: 'setting',
  ...settingId,
  idPrefix: '',
  // The service may record only the first value of a setting. The operator records all later values.
  steps: [
    declareStep({ step: 'setting.record', to: 'set', events: ['SettingChanged'], numberMax: 1 }),
    declareStep({ step: 'setting.change', to: 'set', events: ['SettingChanged'], writer: 'operator' }),
  ],
  events: new Map([eventOf(changed, { judge: judgeChanged })]),
}

// Form of a setting's name. After a slash, it may contain an address, as in `mint/<address>`.
const nameForm = /^[a-z0-9-]{1,40}(?:\/[1-9A-Za-z]{1,44})?$/

const mintForm = /^mint\/(.+)$/
const withDecimals = z.object({ decimals: z.int() })

function judgeChanged(event: SettingEvent, at: Judged): void {
  const { stream, name, number, validFrom, effectiveAt } = event
  const blame = (message: string): void => at.blame('lifecycle_impossible', message)
  if (!nameForm.test(name) || stream !== `${name}#${number}`) blame('a setting is in another stream')
  if (name === 'prices') blame('prices are set by a price list')
  if (validFrom !== effectiveAt) blame('it took effect at another time')
  at.ledger.periods.record(event, at)
  const [, mint] = mintForm.exec(name) ?? []
  const { data: of } = withDecimals.safeParse(event.value)
  const difference = mint && of && noteDecimals(at.ledger.state, mint, of.decimals)
  if (difference) at.blame('setting_wrong', difference)
  countSetting({ name, number, validFromMs: effectiveAt }, at)
}

const newest = new StateDocument('newestSettings', () => new Map<string, number>())

interface CountedSetting {
  readonly name: string
  readonly number: number
  readonly validFromMs: number
}

/**
 * Checks that the number follows the last one. Stores the row that the database must have for this value, for
 * `matchSettings`.
 */
export function countSetting({ name, number, validFromMs }: CountedSetting, at: Judged): void {
  const { position, blame, bodyDigest, ledger } = at
  const last = newest.of(ledger.state).get(name) ?? 0
  if (number !== last + 1) blame('version_missing', `number ${number} of ${name} follows ${last}`, `${name}#${number}`)
  newest.of(ledger.state).set(name, number)
  const id = `${name}#${number}`
  ledger.settings.add(id, { id, position, validFromMs, digest: bodyDigest() })
}
