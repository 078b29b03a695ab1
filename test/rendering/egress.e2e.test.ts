import { describe, expect, test } from 'vitest'
import { isGlobalAddress } from '../../src/outbound/urlGuard.ts'
import { afterFile } from '../support/afterFile.ts'
import { type Attack, subresources } from '../proofs/egress/attacks.ts'
import { openEnvironment } from '../proofs/egress/environment.ts'
import { guarded, openAttackedRenderer, tryAttack } from '../proofs/egress/tryAttacks.ts'
import { unguarded } from '../proofs/egress/unguarded.ts'

/* The short form of `npm run proof egress`: everything that a page can load, in one page. */

const environment = await openEnvironment({
  site: { address: '127.0.0.1', port: 0, tlsPort: 0 },
  canaries: { addresses: ['127.0.0.1'], ports: [0] },
  secretFile: '/etc/passwd',
  nameServerPort: 0,
})
afterFile(async () => {
  await environment[Symbol.asyncDispose]()
})
const parts = subresources(environment)
const all = {
  group: 'subresource',
  name: 'all at once',
  target: { page: parts.map(({ html }) => html).join('\n') },
}
const direct: readonly Attack[] = ['private.test', 'mixed.test', '127.1', '[::ffff:127.0.0.1]'].map((host) => ({
  group: 'direct',
  name: host,
  target: { url: `http://${host}${environment.port}/` },
}))
const redirect: Attack = {
  group: 'redirect',
  name: '302',
  target: { page: '', status: 302, headers: { location: `http://127.0.0.1${environment.port}/` } },
}

const guardedRenderer = await openAttackedRenderer(guarded(environment))
afterFile(() => guardedRenderer.close())
const canRender = guardedRenderer.whyUnavailable() === undefined
if (!canRender) process.stderr.write(`the guard is not tested: ${guardedRenderer.whyUnavailable()}\n`)

describe.skipIf(!canRender)('a page', () => {
  test('is an attack: without the guard it reaches the private network in many ways', async () => {
    const renderer = await openAttackedRenderer(unguarded(environment))
    const { hits } = await tryAttack({ renderer }, environment, all)
    await renderer.close()
    expect(hits).toBeGreaterThan(20)
  })

  test('reaches nothing with it, and is rendered', async () => {
    expect(await tryAttack({ renderer: guardedRenderer }, environment, all)).toMatchObject({
      hits: 0,
      leaked: false,
      outcome: 'rendered',
    })
  })

  test('in a frame of another site, or at a site with TLS, reaches nothing either', async () => {
    const { page } = all.target
    for (const target of [
      { page, isFramed: true },
      { page, isSecure: true },
    ])
      expect(await tryAttack({ renderer: guardedRenderer }, environment, { ...all, target })).toMatchObject({
        hits: 0,
        leaked: false,
        outcome: 'rendered',
      })
  })

  test.each([...direct, redirect].map((attack) => ({ ...attack, title: attack.name })))(
    'is not sold when it is at $title',
    async (attack) => {
      expect(await tryAttack({ renderer: guardedRenderer }, environment, attack)).toMatchObject({
        hits: 0,
        outcome: 'forbidden',
      })
    },
  )
})

test('the addresses of the canaries are what the rule is about', () => {
  expect([...environment.addresses.values()].filter(isGlobalAddress)).toEqual([])
})
