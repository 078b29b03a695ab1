import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { isRefusal } from '@tollbook/core/refusal'
import {
  body,
  type Challenge,
  credentialOf,
  decode,
  encode,
  type Instructions,
  openRailParts,
  reasonOf,
} from './mppFixture.ts'

const rail = openRailParts()
const { wallets, price } = rail

/** The header that a hostile client makes of a challenge of ours. */
type Attack = (challenge: Challenge) => string

const paying =
  (change: Instructions): Attack =>
  (challenge) =>
    credentialOf(challenge, rail.pay(challenge, change))

/** Pays as asked, and changes the echo. */
const echoing =
  (change: (challenge: Challenge) => Partial<Challenge>): Attack =>
  (challenge) =>
    credentialOf({ ...challenge, ...change(challenge) }, rail.pay(challenge))

const requesting = (change: object) =>
  echoing(({ request }) => ({ request: encode({ ...Object(decode(request)), ...change }) }))

const thief = Keypair.generate()

function signedTwice(challenge: Challenge): string {
  const transaction = VersionedTransaction.deserialize(rail.pay(challenge))
  transaction.message.header.numRequiredSignatures = 3
  transaction.signatures.push(new Uint8Array(64))
  return credentialOf(challenge, Buffer.from(transaction.serialize()))
}

const attacks: readonly (readonly [string, Attack, string])[] = [
  ['no token', () => 'Payment', 'malformed_credential'],
  ['text', () => 'Payment pay-me', 'malformed_credential'],
  ['standard base64', () => `Payment ${Buffer.from('{"a":"???>>>"}').toString('base64')}`, 'malformed_credential'],
  ['no challenge', () => `Payment ${encode({ payload: {} })}`, 'malformed_credential'],
  [
    'an oversize header',
    (each) => credentialOf(each, rail.pay(each), { padding: 'x'.repeat(12_288) }),
    'malformed_credential',
  ],
  [
    'a signature it has sent itself',
    (each) => `Payment ${encode({ challenge: each, payload: { type: 'signature', signature: 'x' } })}`,
    'malformed_credential',
  ],
  ['no secret', echoing(() => ({ opaque: encode({ priceList: '7' }) })), 'malformed_credential'],
  ['another method', echoing(() => ({ method: 'tempo' })), 'challenge_invalid'],
  ['another intent', echoing(() => ({ intent: 'session' })), 'challenge_invalid'],
  ['a made-up challenge id', echoing(() => ({ id: 'x'.repeat(43) })), 'challenge_invalid'],
  ['a challenge of another realm', echoing(() => ({ realm: 'other.example' })), 'challenge_invalid'],
  ['a lower amount in the echo', requesting({ amount: '1' }), 'challenge_invalid'],
  ['another recipient in the echo', requesting({ recipient: thief.publicKey.toBase58() }), 'challenge_invalid'],
  ['a later expiry in the echo', echoing(() => ({ expires: '2100-01-01T00:00:00.000Z' })), 'challenge_invalid'],
  [
    'another price list',
    echoing(({ opaque }) => ({ opaque: encode({ ...Object(decode(opaque)), priceList: '1' }) })),
    'challenge_invalid',
  ],
  ['the digest of another body', echoing(() => ({ digest: `sha-256=${'A'.repeat(43)}=` })), 'challenge_invalid'],
  ['no digest', echoing(() => ({ digest: undefined })), 'challenge_invalid'],
  [
    'a guessed secret',
    echoing(({ opaque }) => ({ opaque: encode({ ...Object(decode(opaque)), secret: 'A'.repeat(22) }) })),
    'secret_mismatch',
  ],
  ['half a transaction', (each) => credentialOf(each, rail.pay(each).subarray(0, 90)), 'not_sponsored'],
  [
    'an unsigned transaction',
    (each) => credentialOf(each, Buffer.from(rail.pay(each).fill(0, 65, 129))),
    'not_sponsored',
  ],
  ['one more signer', signedTwice, 'not_sponsored'],
  ['another fee payer', (each) => credentialOf(each, Buffer.from(rail.payBy(thief.publicKey, each))), 'not_sponsored'],
  [
    'another mint',
    paying(({ head, transfer, memo }) => [...head, transfer({ mint: thief.publicKey }), memo()]),
    'not_sponsored',
  ],
  [
    'a foreign recipient',
    paying(({ head, transfer, memo }) => [...head, transfer({ to: thief.publicKey }), memo()]),
    'not_sponsored',
  ],
  [
    'two transfers',
    paying(({ head, transfer, memo }) => [...head, transfer(), transfer({ amount: 1n }), memo()]),
    'not_sponsored',
  ],
  ['two memos', paying(({ head, transfer, memo }) => [...head, transfer(), memo(), memo('x')]), 'not_sponsored'],
  [
    'a short amount',
    paying(({ head, transfer, memo }) => [...head, transfer({ amount: price.requiredBaseUnits - 1n }), memo()]),
    'transfer_insufficient',
  ],
  ['no memo', paying(({ head, transfer }) => [...head, transfer()]), 'memo_missing'],
  [
    'the memo of another challenge',
    paying(({ head, transfer, memo }) => [...head, transfer(), memo(`tollbook:${'A'.repeat(43)}`)]),
    'secret_mismatch',
  ],
]

test.each(attacks)(
  'a credential with %s is refused, and the fee payer signs nothing',
  async (_name, attack, reason) => {
    const before = rail.signatures()
    const outcome = await rail.present(attack(await rail.ask()))
    expect(reasonOf(outcome)).toBe(reason)
    expect(rail.signatures()).toBe(before)
  },
)

test('a credential for one body does not pay for another', async () => {
  const challenge = await rail.ask({ body })
  const header = credentialOf(challenge, rail.pay(challenge))
  expect(reasonOf(await rail.present(header, { body: `${body} ` }))).toBe('challenge_invalid')
  expect(reasonOf(await rail.present(header, {}))).toBe('challenge_invalid')
})

test('an expired challenge is refused, unless the fee payer has signed its payment before', async () => {
  const challenge = await rail.ask()
  const header = credentialOf(challenge, rail.pay(challenge))
  const late = await rail.ask()
  const lateHeader = credentialOf(late, rail.pay(late))
  const first = await rail.present(header)
  rail.clock.now += 300_001
  expect(reasonOf(await rail.present(lateHeader))).toBe('challenge_expired')
  expect(await rail.present(header)).toEqual(first)
})

test('a replay has the signature of the first presentation and is signed once', async () => {
  const challenge = await rail.ask()
  const header = credentialOf(challenge, rail.pay(challenge))
  const before = rail.signatures()
  const [first, again] = [await rail.present(header), await rail.present(header)]
  if (isRefusal(first) || isRefusal(again)) throw new Error('both are read')
  expect(again.signature).toBe(first.signature)
  expect(first.payer).toBe(wallets.payer.publicKey.toBase58())
  expect(rail.signatures() - before).toBe(1)
})
