import { base58 } from '@scure/base'
import { declareStep } from '../declaredKind.ts'
import { arrivalPrefix, arrivalStream } from '../streamName.ts'
import type { AuditedKind } from './auditedKind.ts'
import { arrivalEvents } from './payment.ts'

const signatureBytes = 64
const step = { step: 'arrival.record', to: 'unmatched' } as const

/** Stream kind for tokens of each further mint in a transaction. The stream of the transaction records the first mint. */
export const arrival: AuditedKind = {
  kind: 'arrival',
  space: 8,
  idBytes: 96,
  idPrefix: '',
  isSetting: false,
  namePrefix: arrivalPrefix,
  nameOf: (key) =>
    arrivalStream(base58.encode(key.subarray(0, signatureBytes)), base58.encode(key.subarray(signatureBytes))),
  steps: [
    declareStep({ ...step, events: ['TransferReceived'], moves: ['wallet>unmatched'] }),
    declareStep({ ...step, events: ['TokensDelivered'], moves: ['wallet>to_deliver'] }),
  ],
  events: new Map(arrivalEvents),
}
