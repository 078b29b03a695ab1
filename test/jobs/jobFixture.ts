import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { signatureOfBytes, type Signature } from '@tollbook/core/signature'
import type { PaymentLifecycle } from '../../src/payment/paymentLifecycle.ts'

const unused = (): never => {
  throw new Error('this job does not ask for that')
}

/** A lifecycle port that answers only what a test gives it. */
export function lifecycleWith(given: Partial<PaymentLifecycle>): PaymentLifecycle {
  return {
    findOpen: unused,
    loadPayments: unused,
    findAccounted: unused,
    readScanPlace: unused,
    advanceScan: unused,
    exposureBaseUnits: unused,
    undeliveredBaseUnits: unused,
    prepaidBaseUnits: unused,
    followOpenWork: unused,
    runElected: unused,
    ...given,
  }
}

export function signatureNumber(number: number): Signature {
  const bytes = new Uint8Array(64).fill(9)
  new DataView(bytes.buffer).setUint32(0, number)
  return assertPresent(signatureOfBytes(bytes), 'a filled signature is one')
}

export const heldClock = { ...systemClock, nowMs: () => 1_790_000_000_000, monotonicMs: () => 0 }
