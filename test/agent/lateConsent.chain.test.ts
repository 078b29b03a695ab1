import { writeFileSync } from 'node:fs'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type AttackedWallet, openAttackedWallet } from './support/attackedWallet.ts'
import { writePolicy } from './support/agentFolder.ts'
import { paidTo, scaled, thief } from './support/maliciousService.ts'
import { openWindow, type ToolAnswer } from './support/mcpWindow.ts'

/* A person who answers hours after the question, while offer, price or policy have changed. */

let scene: AttackedWallet
beforeAll(async () => {
  scene = await openAttackedWallet()
  scene.service.reaction = asked
})
afterEach(async () => {
  vi.useRealTimers()
  scene.service.reaction = asked
  await writePolicy(scene.folder, scene.policy)
})

const asked: AttackedWallet['service']['reaction'] = (quote) => ({ body: scaled(quote, 2n, 'price in dollars') })
const hourMs = 3_600_000
const refusedAs = ({ texts }: ToolAnswer) => /"refused":"([^"]+)"/.exec(texts[0] ?? '')?.[1]

async function payLate(isModern: boolean, meanwhile: () => void) {
  const questions: string[] = []
  const { call } = await openWindow(scene.wallet, {
    isModern,
    onAsked(message) {
      meanwhile()
      return questions.push(message) === 1
    },
  })
  const answer = call('pay_and_fetch', { url: `${scene.service.url}/api/data/crypto?symbol=BTC` })
  const outcome = await answer.then(
    (given) => refusedAs(given) ?? 'paid',
    (error: unknown) => String(error),
  )
  return { outcome, questions }
}

test.each([true, false])('a consent of three hours ago pays nothing (modern: %s)', async (isModern) => {
  const { outcome } = await payLate(isModern, () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * hourMs })
  })
  expect(outcome).not.toBe('paid')
  vi.useRealTimers()
  await scene.expectNothingPaid()
})

const policyWith = (change: object) => () =>
  writeFileSync(scene.folder.policy, JSON.stringify({ ...scene.policy, ...change }))
const offerOf = (reaction: AttackedWallet['service']['reaction']) => () => {
  scene.service.reaction = reaction
}

test.each([true, false])(
  'a consent for another offer than the one that is asked later pays nothing (modern: %s)',
  async (isModern) => {
    const unpinned = { ...scene.policy, hosts: { [scene.service.host]: {} } }
    for (const [meanwhile, expected] of [
      // The same tokens for more dollars than the person read.
      [
        offerOf((quote) => {
          const offer = scaled(quote, 2n, 'price in dollars')
          return { body: { ...offer, pricing: { ...offer.pricing, priceUSD: 0.05, tokenPrice: 0.00125 } } }
        }),
        'the person did not agree; nothing was paid',
      ],
      [
        offerOf((quote) => ({ body: paidTo(scaled(quote, 2n, 'price in dollars'), thief) })),
        'the person did not agree; nothing was paid',
      ],
      [policyWith({ hosts: { [scene.service.host]: { payTo: thief } } }), 'RECIPIENT_NOT_LISTED'],
      [policyWith({ limits: { perRequestUsd: '0.01' } }), 'LIMIT_REACHED'],
      [policyWith({ mints: { [thief]: { name: 'TOLL', usdPerToken: '0.001' } } }), 'OFFER_REFUSED'],
    ] as const) {
      await writePolicy(scene.folder, unpinned)
      scene.service.reaction = asked
      const { outcome } = await payLate(isModern, meanwhile)
      expect(outcome).toBe(expected)
    }
    await writePolicy(scene.folder, scene.policy)
    await scene.expectNothingPaid()
  },
)
