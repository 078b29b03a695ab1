import { once } from 'node:events'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runOnSchedule } from '../../src/cli/onSchedule.ts'
import { witnessCommand } from '../../src/cli/witness.ts'
import { startTestWitness } from '../support/testWitness.ts'

const interrupt = new AbortController()
const slept: number[] = []
let complaint = ''
const deps = {
  stdout: { write: () => true },
  stderr: { write: (text: string) => void (complaint += text) },
  home: () => '/nowhere',
  setExitCode: () => undefined,
  interrupted: interrupt.signal,
  clock: {
    nowMs: () => 0,
    monotonicMs: () => 0,
    sleep: (durationMs: number) => {
      slept.push(durationMs)
      if (slept.length === 3) interrupt.abort()
      return Promise.resolve()
    },
  },
}

test('without a schedule the work runs once, and a schedule repeats failures but not a wrong call', async () => {
  expect(await runOnSchedule(deps, undefined, () => Promise.resolve(7))).toBe(7)
  expect(await runOnSchedule(deps, '1h', () => Promise.resolve(2))).toBe(2)
  expect(slept).toEqual([])
  for (const every of ['soon', '1s', '8d', '10'])
    expect(await runOnSchedule(deps, every, () => Promise.resolve(0))).toBe(2)
  expect(complaint).toContain('--every: must be a duration such as 90s, 10m, 24h or 7d (got soon)')
  expect(complaint).toContain('--every: must be at least 10s (got 1s)\n--every: must be at most 7d (got 8d)\n')
  const codes = [0, 7, 4]
  expect(await runOnSchedule(deps, '10m', () => Promise.resolve(codes.shift() ?? 1))).toBe(0)
  expect([slept, codes]).toEqual([[600_000, 600_000, 600_000], []])
})

test('SIGTERM ends a schedule with 0, also in the middle of a run', async () => {
  const before = process.listeners('SIGTERM')
  const running = { ...deps, interrupted: new AbortController().signal }
  const code = await runOnSchedule(running, '1h', (stopping) => {
    process.emit('SIGTERM')
    expect(stopping.aborted).toBe(true)
    return Promise.resolve(7)
  })
  expect(code).toBe(0)
  expect(process.listeners('SIGTERM').filter((listener) => !before.includes(listener))).toEqual([])
})

test(
  'a witness command that must stop does not wait for a service that does not answer',
  { timeout: 5_000 },
  async () => {
    const stopped = new AbortController()
    const service = createServer(() => stopped.abort()).listen(0, '127.0.0.1')
    await once(service, 'listening')
    const address = service.address()
    const port = typeof address === 'object' ? address?.port : undefined
    await using folder = await mkdtempDisposable(join(tmpdir(), 'witness-'))
    const key = join(folder.path, 'jwk.json')
    await writeFile(key, JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x: Buffer.alloc(32, 7).toString('base64url') }))
    await using witness = await startTestWitness({ name: 'log', publicKey: new Uint8Array(32) })
    const codes: number[] = []
    const running = { ...deps, interrupted: stopped.signal, setExitCode: (code: number) => void codes.push(code) }
    const options = ['--witness-url', witness.url, '--witness-key', witness.key, '--output', join(folder.path, 'note')]
    const source = ['--base-url', `http://127.0.0.1:${port}`, '--key', key]
    await witnessCommand(running).parseAsync([...options, ...source], { from: 'user' })
    service.closeAllConnections()
    service.close()
    expect(codes).toEqual([7])
  },
)
