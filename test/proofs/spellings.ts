import type { Payment } from '../support/payer.ts'

/** One way to make a payment, and every way in which it can then be written down. */
export interface Family {
  readonly name: string
  readonly bound: boolean
  /** Sent before it is presented; otherwise the service sends it. */
  readonly landed: boolean
  spell(payment: Payment): readonly string[]
}

const base64 = (content: string | Uint8Array): string => Buffer.from(content).toString('base64')

function spellPlain({ signature, bytes }: Payment): readonly string[] {
  const proofs = [base64(signature), base64(bytes.subarray(1, 65)), base64(bytes)]
  // Spaces around a header's value are not part of it.
  return [...proofs, ...proofs.map((proof) => `  ${proof} `)]
}

function spellBound({ signature, bytes, secret }: Payment): readonly string[] {
  const objects = [{ signature }, { transaction: base64(bytes) }].flatMap((what) => [
    { ...what, secret },
    { secret, ...what },
  ])
  return objects.flatMap((object) => [base64(JSON.stringify(object)), base64(JSON.stringify(object, null, 2))])
}

export const families: readonly Family[] = [
  { name: 'signature', bound: false, landed: true, spell: (payment) => spellPlain(payment) },
  { name: 'raw signature', bound: false, landed: true, spell: (payment) => spellPlain(payment).toReversed() },
  { name: 'unsent transaction', bound: false, landed: false, spell: (payment) => spellPlain(payment).toReversed() },
  { name: 'bound signature', bound: true, landed: true, spell: (payment) => spellBound(payment) },
  {
    name: 'bound unsent transaction',
    bound: true,
    landed: false,
    spell: (payment) => spellBound(payment).toReversed(),
  },
]
