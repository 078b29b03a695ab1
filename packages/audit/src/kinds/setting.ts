import { z } from 'zod'
import { StateDocument } from '../auditState.ts'
import { utcTime } from '../body.ts'
import { declareStep } from '../declaredKind.ts'
import { noteDecimals } from '../mintDecimals.ts'
import { type AuditedKind, bodyOf, type EventHead, eventOf, type Judged } from './auditedKind.ts'

/* Settings of the ledger. The values of each name are numbered 1, 2, 3…, and each number has its own stream. */

/** The id of a setting's stream is plain text. */
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
  // The service records the first value of a setting, the operator every later one.
  steps: [
    declareStep({ step: 'setting.record', to: 'set', events: ['SettingChanged'], numberMax: 1 }),
    declareStep({ step: 'setting.change', to: 'set', events: ['SettingChanged'], writer: 'operator' }),
  ],
  events: new Map([eventOf(changed, { judge: judgeChanged })]),
}

// Form of a setting's name. One part may follow a slash: `mint/<address>`.
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

/** Checks that the numbers of a name are consecutive. Stores the required content of the setting's row. */
export function countSetting({ name, number, validFromMs }: CountedSetting, at: Judged): void {
  const { position, blame, bodyDigest, ledger } = at
  const last = newest.of(ledger.state).get(name) ?? 0
  if (number !== last + 1) blame('version_missing', `number ${number} of ${name} follows ${last}`, `${name}#${number}`)
  newest.of(ledger.state).set(name, number)
  const id = `${name}#${number}`
  ledger.settings.add(id, { id, position, validFromMs, digest: bodyDigest() })
}
