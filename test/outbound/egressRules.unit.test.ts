import { expect, test } from 'vitest'
import { createResolve, judgeTarget, webRules } from '../../src/outbound/egressRules.ts'
import { isGlobalAddress } from '../../src/outbound/urlGuard.ts'
import { startNameServer } from '../proofs/egress/nameServer.ts'
import { createZone, zoneKinds } from '../proofs/egress/zone.ts'
import { afterFile } from '../support/afterFile.ts'

/* Names are judged by the answers of a name server that lies, over UDP and TCP. */

const zone = createZone({ site: '93.184.216.34', inside: '10.0.0.1' })
const many = Array.from({ length: 1_000 }, (_, nth) => `93.184.${nth >> 8}.${nth & 255}`)
const server = await startNameServer({
  port: 0,
  answer: (question) => (question.name === 'many.test' ? { addresses: many } : zone(question)),
})
afterFile(async () => {
  await server[Symbol.asyncDispose]()
})
const rules = { ...webRules([]), resolve: createResolve([server.address]) }
const judge = (hostname: string) => judgeTarget(rules, { hostname, port: 80 })

// A server without an answer costs four seconds.
test.each(zoneKinds.filter((kind) => kind !== 'silent'))(
  'a name of the kind %s leads to no private address',
  async (kind) => {
    for (let turn = 1; turn <= 2; turn++) {
      const verdict = await judge(`x.${kind}.test`.toLowerCase())
      if (verdict.kind === 'reachable')
        expect(verdict.addresses.filter((address) => !isGlobalAddress(address))).toEqual([])
    }
  },
)

test('a public name is reached where its name server says', async () => {
  expect(await judge('attack.test')).toEqual({ kind: 'reachable', addresses: ['93.184.216.34'] })
})

test('a name with a thousand addresses is tried at a few of them', async () => {
  const verdict = await judge('many.test')
  expect(verdict).toEqual({ kind: 'reachable', addresses: many.slice(0, 16) })
  expect(server.tcpCount()).toBeGreaterThan(0)
})
