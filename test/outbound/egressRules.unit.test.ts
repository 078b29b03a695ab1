import { describe, expect, test } from 'vitest'
import { readHostEntry } from '../../src/machine/hostEntry.ts'
import { createDeniedHosts } from '../../src/outbound/deniedHosts.ts'
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

describe('a global address', () => {
  // Of no machine of the network in which tests run.
  const own = ['198.51.99.7', '2606:4700::7']
  const names: Record<string, readonly string[]> = {
    'own.example': ['198.51.99.7'],
    'own6.example': ['93.184.216.34', '2606:4700:0:0::7'],
    'office.example': ['93.184.217.9'],
    'front.example': ['93.184.216.34'],
  }
  const ruled = {
    ...rules,
    denied: createDeniedHosts(['93.184.217.0/24', '2606:4700:1::/48', '[2606:4700:2::1]', 'Front.example'], () => own),
    resolve: (name: string) => Promise.resolve(names[name] ?? ['93.184.216.34']),
  }
  const kindOf = async (hostname: string, allowHosts: readonly string[] = []) =>
    (await judgeTarget({ ...ruled, allowHosts, resolveAllowed: ruled.resolve }, { hostname, port: 443 })).kind

  test.each(['198.51.99.7', '[2606:4700::7]', 'own.example', 'own6.example'])(
    'of this machine is not reached: %s',
    async (hostname) => {
      expect(await kindOf(hostname)).toBe('forbidden')
    },
  )

  test.each([
    '93.184.217.1',
    '[2606:4700:1::9]',
    '[2606:4700:2::1]',
    'office.example',
    'front.example',
    'front.example.',
  ])('that the operator denies is not reached: %s', async (hostname) => {
    expect(await kindOf(hostname)).toBe('forbidden')
  })

  test('of another host is reached, and so is a denied one that the operator allows by name', async () => {
    expect(await kindOf('93.184.218.1')).toBe('reachable')
    expect(await kindOf('[2606:4700:2::2]')).toBe('reachable')
    expect(await kindOf('not.front.example')).toBe('reachable')
    expect(await kindOf('own.example', ['own.example'])).toBe('reachable')
  })

  test('of an interface of this machine is among those that are denied', () => {
    const isDenied = createDeniedHosts([]).addresses()
    expect([isDenied('127.0.0.1'), isDenied('93.184.216.34')]).toEqual([true, false])
  })
})

test.each(['', 'http://example.org', 'example.org:443', '10.0.0.0/33', '::/129', 'a b', '-a.example'])(
  '%j is not a host to deny',
  (entry) => {
    expect(readHostEntry(entry)).toBe(undefined)
  },
)
