import { randomBytes } from 'node:crypto'
import type { Attack } from './attack.ts'
import { sendOpenLoop } from './openLoop.ts'

const factor = 10
const repeated = randomBytes(64).toString('base64')

/** Signatures without a payment: a new one and a repeated one in turn. */
export const junkProofs: Attack = {
  name: `junk and repeated proofs at ${factor} × capacity`,
  start: (target) =>
    sendOpenLoop(target, factor * target.capacityPerSecond, (n) => ({
      method: 'GET',
      path: '/api/data/crypto?symbol=BTC',
      headers: {
        'x-wallet-address': target.wallet,
        'x-payment-proof': n % 2 === 0 ? repeated : randomBytes(64).toString('base64'),
      },
    })),
}
